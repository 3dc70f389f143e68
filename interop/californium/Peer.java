import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Scanner;
import java.util.stream.Stream;

import org.eclipse.californium.elements.AddressEndpointContext;
import org.eclipse.californium.elements.RawData;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.scandium.DTLSConnector;
import org.eclipse.californium.scandium.config.DtlsConfig;
import org.eclipse.californium.scandium.config.DtlsConnectorConfig;
import org.eclipse.californium.scandium.dtls.cipher.CipherSuite;
import org.eclipse.californium.scandium.dtls.pskstore.AdvancedSinglePskStore;

/**
 * A DTLS peer of the tests: it sends each line that it reads and prints what it receives. Its arguments are its suites,
 * the identity, the key, the length of the connection ids it gives (-1 for none), and the port of the server if it is a
 * client.
 */
public class Peer {
    public static void main(String[] arguments) throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        Configuration configuration = new Configuration();
        configuration.set(DtlsConfig.DTLS_CIPHER_SUITES, Stream.of(arguments[0].split(",")).map(CipherSuite::valueOf).toList());
        int idLength = Integer.parseInt(arguments[3]);
        if (idLength >= 0) {
            configuration.set(DtlsConfig.DTLS_CONNECTION_ID_LENGTH, idLength);
        }
        byte[] key = arguments[2].getBytes(StandardCharsets.US_ASCII);
        DTLSConnector connector = new DTLSConnector(DtlsConnectorConfig.builder(configuration)
                .setAddress(new InetSocketAddress(loopback, 0))
                .setAdvancedPskStore(new AdvancedSinglePskStore(arguments[1], key))
                .build());
        InetSocketAddress[] peer = new InetSocketAddress[1];
        if (arguments.length > 4) {
            peer[0] = new InetSocketAddress(loopback, Integer.parseInt(arguments[4]));
        }
        connector.setRawDataReceiver(raw -> {
            peer[0] = raw.getInetSocketAddress();
            System.out.println("received " + new String(raw.getBytes(), StandardCharsets.UTF_8) + " from port " + peer[0].getPort());
        });
        connector.start();
        System.out.println("port " + connector.getAddress().getPort());
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            String line = lines.nextLine();
            if (line.startsWith("!server ")) {
                peer[0] = new InetSocketAddress(loopback, Integer.parseInt(line.substring("!server ".length())));
                continue;
            }
            switch (line) {
                // From the next message on, with a resumed session.
                case "!resume" -> connector.forceResumeAllSessions();
                default -> {
                    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
                    connector.send(RawData.outbound(bytes, new AddressEndpointContext(peer[0]), null, false));
                }
            }
        }
        connector.destroy();
    }
}
