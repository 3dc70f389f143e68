import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Scanner;
import java.util.Set;

import org.eclipse.californium.core.CoapResource;
import org.eclipse.californium.core.CoapServer;
import org.eclipse.californium.core.coap.CoAP.ResponseCode;
import org.eclipse.californium.core.config.CoapConfig;
import org.eclipse.californium.core.network.CoapEndpoint;
import org.eclipse.californium.core.server.resources.CoapExchange;
import org.eclipse.californium.elements.DtlsEndpointContext;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.scandium.DTLSConnector;

/**
 * A server of CoAP over DTLS with a reading at /reading, by the arguments of Options.java. It prints each session in which that is asked
 * for, and ends with its input.
 */
public class Sensor {
    private static final int SENML_JSON = 110;
    private static final byte[] READING = "[{\"n\":\"t\",\"u\":\"Cel\",\"v\":21.5}]".getBytes(StandardCharsets.US_ASCII);

    public static void main(String[] arguments) throws Exception {
        CoapConfig.register();
        Configuration configuration = new Configuration();
        CoapEndpoint endpoint = CoapEndpoint.builder()
                .setConnector(new DTLSConnector(new Options(arguments).dtls(configuration))).setConfiguration(configuration).build();
        CoapServer server = new CoapServer(configuration);
        server.addEndpoint(endpoint);
        Set<Object> sessions = new HashSet<>();
        server.add(new CoapResource("reading") {
            @Override
            public void handleGET(CoapExchange exchange) {
                Object session = exchange.advanced().getRequest().getSourceContext().get(DtlsEndpointContext.KEY_SESSION_ID);
                if (sessions.add(session)) {
                    System.out.println("session " + session);
                }
                exchange.respond(ResponseCode.CONTENT, READING, SENML_JSON);
            }
        });
        server.start();
        System.out.println("port " + endpoint.getAddress().getPort());
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            lines.nextLine();
        }
        server.destroy();
    }
}
