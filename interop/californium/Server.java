import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;

import org.eclipse.californium.core.CoapResource;
import org.eclipse.californium.core.CoapServer;
import org.eclipse.californium.core.coap.CoAP.ResponseCode;
import org.eclipse.californium.core.config.CoapConfig;
import org.eclipse.californium.core.network.CoapEndpoint;
import org.eclipse.californium.core.server.resources.CoapExchange;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.elements.util.SslContextUtil;
import org.eclipse.californium.scandium.DTLSConnector;
import org.eclipse.californium.scandium.config.DtlsConfig;
import org.eclipse.californium.scandium.config.DtlsConnectorConfig;
import org.eclipse.californium.scandium.dtls.CertificateType;
import org.eclipse.californium.scandium.dtls.cipher.CipherSuite;
import org.eclipse.californium.scandium.dtls.pskstore.AdvancedMultiPskStore;
import org.eclipse.californium.scandium.dtls.x509.SingleCertificateProvider;
import org.eclipse.californium.scandium.dtls.x509.StaticNewAdvancedCertificateVerifier;

/**
 * A CoAP server to measure beside the cloud: it keeps what is posted to /load in memory, and tells it again. Its arguments are
 * how many sessions there may be, the key that every client has, the file of its private key and certificate, and that of
 * the authority of its clients. To each line that it reads it says how much memory it uses.
 */
public class Server {
    private static volatile byte[] content = "21.5".getBytes(StandardCharsets.US_ASCII);

    public static void main(String[] arguments) throws Exception {
        int sessions = Integer.parseInt(arguments[0]);
        byte[] key = arguments[1].getBytes(StandardCharsets.US_ASCII);
        SslContextUtil.Credentials own = SslContextUtil.loadCredentials(arguments[2], null, null, null);
        CoapConfig.register();
        DtlsConfig.register();
        Configuration configuration = Configuration.createStandardWithoutFile();
        // By peers, and a few messages of each: the other way keeps every message for 247 seconds.
        configuration.set(CoapConfig.DEDUPLICATOR, CoapConfig.DEDUPLICATOR_PEERS_MARK_AND_SWEEP);
        configuration.set(CoapConfig.PEERS_MARK_AND_SWEEP_MESSAGES, 4);
        configuration.set(CoapConfig.MAX_ACTIVE_PEERS, sessions + 1000);
        // What is over is kept to be resumed: it makes room after a second.
        configuration.set(DtlsConfig.DTLS_MAX_CONNECTIONS, 5 * sessions + 1000);
        configuration.set(DtlsConfig.DTLS_STALE_CONNECTION_THRESHOLD, 1, TimeUnit.SECONDS);
        configuration.set(DtlsConfig.DTLS_CIPHER_SUITES, List.of(CipherSuite.TLS_PSK_WITH_AES_128_CCM_8,
                CipherSuite.TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8));
        AdvancedMultiPskStore keys = new AdvancedMultiPskStore();
        for (int device = 0; device < sessions; device++) {
            keys.setKey("load-" + device, key);
        }
        InetAddress loopback = InetAddress.getLoopbackAddress();
        DTLSConnector connector = new DTLSConnector(DtlsConnectorConfig.builder(configuration)
                .setAddress(new InetSocketAddress(loopback, 0))
                .setAdvancedPskStore(keys)
                .setCertificateIdentityProvider(new SingleCertificateProvider(own.getPrivateKey(),
                        own.getCertificateChain(), CertificateType.RAW_PUBLIC_KEY, CertificateType.X_509))
                .setAdvancedCertificateVerifier(StaticNewAdvancedCertificateVerifier.builder()
                        .setTrustedCertificates(SslContextUtil.loadTrustedCertificates(arguments[3], null, null))
                        .setTrustAllRPKs()
                        .build())
                .build());
        CoapEndpoint plain = CoapEndpoint.builder().setConfiguration(configuration)
                .setInetSocketAddress(new InetSocketAddress(loopback, 0)).build();
        CoapEndpoint secure =
                CoapEndpoint.builder().setConfiguration(configuration).setConnector(connector).build();
        CoapServer server = new CoapServer(configuration);
        server.addEndpoint(plain);
        server.addEndpoint(secure);
        server.add(new CoapResource("load") {
            @Override
            public void handleGET(CoapExchange exchange) {
                exchange.respond(ResponseCode.CONTENT, content);
            }

            @Override
            public void handlePOST(CoapExchange exchange) {
                content = exchange.getRequestPayload();
                exchange.respond(ResponseCode.CHANGED);
            }
        });
        server.start();
        System.out.println("ready coap=127.0.0.1:" + plain.getAddress().getPort() + " coaps=127.0.0.1:"
                + secure.getAddress().getPort());
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            lines.nextLine();
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            System.out.println("memory " + (runtime.totalMemory() - runtime.freeMemory()));
        }
        server.destroy();
    }
}
