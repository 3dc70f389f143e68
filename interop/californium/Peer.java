import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Scanner;

import org.eclipse.californium.elements.AddressEndpointContext;
import org.eclipse.californium.elements.RawData;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.scandium.DTLSConnector;
import org.eclipse.californium.scandium.dtls.AlertMessage.AlertDescription;

/** A DTLS peer of the tests: what it does, and by which arguments, stands in `interop/src/peer.rs`. */
public class Peer {
    public static void main(String[] arguments) throws Exception {
        Options options = new Options(arguments);
        DTLSConnector connector = new DTLSConnector(options.dtls(new Configuration()));
        InetSocketAddress[] peer = { options.server() };
        connector.setRawDataReceiver(raw -> {
            peer[0] = raw.getInetSocketAddress();
            System.out.println("received " + new String(raw.getBytes(), StandardCharsets.UTF_8) + " from port " + peer[0].getPort());
        });
        connector.setAlertHandler((from, alert) -> System.out.println(
                alert.getDescription() == AlertDescription.CLOSE_NOTIFY ? "closed" : "alert: " + alert.getDescription()));
        connector.start();
        System.out.println("port " + connector.getAddress().getPort());
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            String line = lines.nextLine();
            if (line.startsWith("!server ")) {
                peer[0] = Options.at(line.substring("!server ".length()));
                continue;
            }
            switch (line) {
                // From the next message on, with a resumed session.
                case "!resume" -> connector.forceResumeAllSessions();
                case "!close" -> connector.close(peer[0]);
                default -> {
                    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
                    connector.send(RawData.outbound(bytes, new AddressEndpointContext(peer[0]), null, false));
                }
            }
        }
        connector.destroy();
    }
}
