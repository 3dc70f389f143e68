/** One server-sent event, without those that only keep the connection alive. */
export interface ServerEvent {
  event: string;
  data: string;
  /** The newest id up to here. */
  id: string | undefined;
}

/**
 * Reads server-sent events from text that comes in pieces
 * ([HTML, section 9.2.6](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation)).
 */
export class EventReader {
  private rest = "";
  private event = "";
  private data: string[] = [];

  constructor(private lastId?: string) {}

  /** The events that `text` completes. */
  read(text: string): ServerEvent[] {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop()!;
    return lines.flatMap((line) => (line === "" ? this.end() : this.field(line)));
  }

  private field(line: string): ServerEvent[] {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.event = value;
    else if (name === "data") this.data.push(value);
    else if (name === "id" && !value.includes("\0")) this.lastId = value;
    return [];
  }

  private end(): ServerEvent[] {
    const { event, data } = this;
    this.event = "";
    this.data = [];
    return data.length === 0 ? [] : [{ event: event || "message", data: data.join("\n"), id: this.lastId }];
  }
}
