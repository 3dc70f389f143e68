import java.util.Scanner;

import org.eclipse.californium.core.coap.CoAP.Code;
import org.eclipse.californium.core.coap.Request;
import org.eclipse.californium.core.coap.Response;
import org.eclipse.californium.core.config.CoapConfig;
import org.eclipse.californium.core.network.CoapEndpoint;
import org.eclipse.californium.elements.config.Configuration;
import org.eclipse.californium.scandium.DTLSConnector;

/**
 * A client of CoAP over DTLS, by the arguments of Options.java. Each line that it reads is a request, "METHOD PATH" or "METHOD PATH
 * FORMAT PAYLOAD"; it prints what is answered.
 */
public class Client {
    /** In milliseconds: longer than a server may take here, and than a handshake that fails. */
    private static final int PATIENCE = 60_000;

    public static void main(String[] arguments) throws Exception {
        CoapConfig.register();
        Options options = new Options(arguments);
        Configuration configuration = new Configuration();
        CoapEndpoint endpoint = CoapEndpoint.builder()
                .setConnector(new DTLSConnector(options.dtls(configuration))).setConfiguration(configuration).build();
        endpoint.start();
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            String[] parts = lines.nextLine().split(" ", 4);
            Request request = new Request(Code.valueOf(parts[0]));
            request.setURI("coaps://127.0.0.1:" + options.server().getPort() + "/" + parts[1]);
            if (parts.length > 2) {
                request.getOptions().setContentFormat(Integer.parseInt(parts[2]));
                request.setPayload(parts[3]);
            }
            Response response = request.send(endpoint).waitForResponse(PATIENCE);
            System.out.println(response == null
                    ? "no answer: " + request.getSendError()
                    : "answer " + response.getCode().text + " " + response.getPayloadString());
        }
        endpoint.destroy();
    }
}
