import java.io.ByteArrayInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

import org.eclipse.californium.elements.auth.RawPublicKeyIdentity;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.elements.util.SslContextUtil;
import org.eclipse.californium.elements.util.SslContextUtil.Credentials;
import org.eclipse.californium.scandium.config.DtlsConfig;
import org.eclipse.californium.scandium.config.DtlsConnectorConfig;
import org.eclipse.californium.scandium.dtls.CertificateType;
import org.eclipse.californium.scandium.dtls.cipher.CipherSuite;
import org.eclipse.californium.scandium.dtls.pskstore.AdvancedSinglePskStore;
import org.eclipse.californium.scandium.dtls.x509.SingleCertificateProvider;
import org.eclipse.californium.scandium.dtls.x509.StaticNewAdvancedCertificateVerifier;

/** The arguments of `interop/src/peer.rs`, each NAME=VALUE. */
class Options {
    private final Map<String, String> values = new HashMap<>();

    Options(String[] arguments) {
        for (String argument : arguments) {
            String[] parts = argument.split("=", 2);
            values.put(parts[0], parts[1]);
        }
    }

    /** The server at this port of the loopback; null for none. */
    static InetSocketAddress at(String port) {
        return port == null ? null : new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
    }

    InetSocketAddress server() {
        return at(values.get("server"));
    }

    /** How DTLS is to be done; the rest of the configuration stays as it is. */
    DtlsConnectorConfig dtls(Configuration configuration) throws Exception {
        configuration.set(DtlsConfig.DTLS_CIPHER_SUITES, Stream.of(values.get("suites").split(":")).map(CipherSuite::valueOf).toList());
        // Names are not what is tested here.
        configuration.set(DtlsConfig.DTLS_VERIFY_SERVER_CERTIFICATES_SUBJECT, false);
        if (server() != null) {
            // A certificate for clients alone is refused otherwise.
            configuration.set(DtlsConfig.DTLS_ROLE, DtlsConfig.DtlsRole.CLIENT_ONLY);
        }
        if (values.containsKey("id")) {
            configuration.set(DtlsConfig.DTLS_CONNECTION_ID_LENGTH, Integer.parseInt(values.get("id")));
        }
        var builder = DtlsConnectorConfig.builder(configuration).setAddress(at("0"));
        if (values.containsKey("key")) {
            byte[] key = values.get("key").getBytes(StandardCharsets.US_ASCII);
            builder.setAdvancedPskStore(new AdvancedSinglePskStore(values.get("identity"), key));
        } else if (values.containsKey("own")) {
            Credentials own = read(values.get("secret"), values.get("own"));
            builder.setCertificateIdentityProvider(
                    new SingleCertificateProvider(own.getPrivateKey(), own.getCertificateChain(), CertificateType.X_509));
            builder.setAdvancedCertificateVerifier(StaticNewAdvancedCertificateVerifier.builder()
                    .setTrustedCertificates(SslContextUtil.loadTrustedCertificates(values.get("trusted"))).build());
        } else {
            Credentials own = read(values.get("secret"), values.get("public"));
            builder.setCertificateIdentityProvider(new SingleCertificateProvider(own.getPrivateKey(), own.getPublicKey()));
            builder.setAdvancedCertificateVerifier(StaticNewAdvancedCertificateVerifier.builder()
                    .setTrustedRPKs(new RawPublicKeyIdentity(read(values.get("known")).getPublicKey())).build());
        }
        return builder.build();
    }

    /** What stands in files in PEM. */
    private static Credentials read(String... files) throws Exception {
        StringBuilder all = new StringBuilder();
        for (String file : files) {
            all.append(Files.readString(Path.of(file)));
        }
        return SslContextUtil.loadPemCredentials(new ByteArrayInputStream(all.toString().getBytes(StandardCharsets.US_ASCII)));
    }
}
