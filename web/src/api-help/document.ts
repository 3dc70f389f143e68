/** What the page reads of OpenAPI: as much of it as the cloud's own description uses. */
export interface ApiDocument {
  paths: Record<string, Partial<Record<Method, DescribedOperation>>>;
  components?: { schemas?: Record<string, Schema> };
}

export type Method = "get" | "post" | "put" | "delete";

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

interface DescribedOperation {
  tags?: string[];
  summary?: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: DescribedParameter[];
  requestBody?: { required?: boolean; content?: Content };
  responses?: Record<string, { description?: string; content?: Content }>;
}

interface DescribedParameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

type Content = Record<string, { schema?: Schema }>;

/** Something that a request may hold: a parameter, or a field of its body. */
export interface Input {
  /** Fields within others have the names of these before theirs, with dots. */
  name: string;
  /** Where it stands: `path`, `query`, `header` or `body`. */
  where: string;
  required: boolean;
  type: string;
  bounds: string;
  description: string;
}

export interface Outcome {
  status: string;
  description: string;
  /** What it holds, and as which type of content. */
  content: [mediaType: string, type: string][];
}

/** One method of one path. */
export interface Operation {
  method: Uppercase<Method>;
  path: string;
  group: string;
  summary: string;
  description: string;
  /** Whether it needs a token. */
  needsToken: boolean;
  inputs: Input[];
  outcomes: Outcome[];
  /** The body of an example, and its type of content. */
  body: { mediaType: string; example: string } | undefined;
}

const METHODS: readonly Method[] = ["get", "post", "put", "delete"];
/** How deep fields are looked for in each other: what holds itself has no end. */
const DEEPEST = 4;

/** All operations, in the order of the document. */
export function operationsOf(document: ApiDocument): Operation[] {
  const reader = new SchemaReader(document.components?.schemas ?? {});
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const described = item[method];
      return described ? [operationOf(reader, method, path, described)] : [];
    }),
  );
}

/** Operations by their group, which come in the order of their names. */
export function grouped(operations: readonly Operation[]): [group: string, operations: Operation[]][] {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const there = groups.get(operation.group);
    if (there) there.push(operation);
    else groups.set(operation.group, [operation]);
  }
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
}

/** The operations in which each word of `text` occurs: in method, path, words or the names of what they take. */
export function matchingOperations(operations: readonly Operation[], text: string): Operation[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return operations.filter(({ method, path, group, summary, description, inputs }) => {
    const names = inputs.map(({ name }) => name).join(" ");
    const said = `${method} ${path} ${group} ${summary} ${description} ${names}`.toLowerCase();
    return words.every((word) => said.includes(word));
  });
}

/** A command line that asks for it. What is to be filled in is in capitals; `known` are names that need not be. */
export function curl(
  operation: Operation,
  origin: string,
  known: Readonly<Record<string, string>> = {},
): string {
  const path = operation.path.replace(/\{([^}]*)\}/g, (_, name: string) => {
    const value = known[name];
    return value === undefined ? name.toUpperCase() : encodeURIComponent(value);
  });
  const query = operation.inputs
    .filter(({ where, required }) => where === "query" && required)
    .map(({ name }) => `${encodeURIComponent(name)}=${name.toUpperCase()}`)
    .join("&");
  const url = `${origin}${path}${query === "" ? "" : `?${query}`}`;
  const parts = [
    // Without it, curl waits for more than one event.
    `curl${path.endsWith("/live") ? " -N" : ""}${operation.method === "GET" ? "" : ` -X ${operation.method}`} ${quoted(url)}`,
  ];
  if (operation.needsToken) parts.push(`-H ${quoted("Authorization: Bearer TOKEN")}`);
  if (operation.body) {
    parts.push(`-H ${quoted(`Content-Type: ${operation.body.mediaType}`)}`);
    parts.push(`-d ${quoted(operation.body.example)}`);
  }
  return parts.join(" \\\n  ");
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Between what a value has to be, in words; empty where nothing is said. */
export function boundsWords(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  return [
    between(minimum, maximum, ""),
    between(minLength, maxLength, " characters"),
    between(minItems, maxItems, " items"),
    schema.default === undefined ? "" : `${JSON.stringify(schema.default)} without it`,
  ]
    .filter((words) => words !== "")
    .join(", ");
}

function between(least: number | undefined, most: number | undefined, what: string): string {
  if (least === undefined && most === undefined) return "";
  if (most === undefined) return `at least ${least}${what}`;
  if (least === undefined) return `at most ${most}${what}`;
  return `${least} to ${most}${what}`;
}

function operationOf(
  reader: SchemaReader,
  method: Method,
  path: string,
  described: DescribedOperation,
): Operation {
  const body = Object.entries(described.requestBody?.content ?? {})[0];
  const schema = body?.[1].schema;
  const inputs = (described.parameters ?? []).map((parameter) => reader.parameter(parameter));
  return {
    method: method.toUpperCase() as Uppercase<Method>,
    path,
    group: described.tags?.[0] ?? "",
    summary: described.summary ?? "",
    description: described.description ?? "",
    needsToken: !(described.security ?? []).some((way) => Object.keys(way).length === 0),
    inputs: schema === undefined ? inputs : [...inputs, ...reader.fields(schema)],
    outcomes: Object.entries(described.responses ?? {}).map(([status, { description, content }]) => ({
      status,
      description: description ?? "",
      content: Object.entries(content ?? {}).map(([type, { schema }]) => [
        type,
        schema === undefined ? "" : reader.typeWords(schema),
      ]),
    })),
    body: body && {
      mediaType: body[0],
      example: JSON.stringify(schema === undefined ? {} : reader.example(schema)),
    },
  };
}

/** Reads schemas, also those that are named elsewhere in the document. */
class SchemaReader {
  constructor(private readonly named: Readonly<Record<string, Schema>>) {}

  parameter({ name, in: where, required, description, schema }: DescribedParameter): Input {
    return this.input(name, where, required === true, schema ?? {}, description);
  }

  /** All fields of a body. */
  fields(schema: Schema, before = "", depth = 0): Input[] {
    const whole = this.resolve(schema);
    const list = whole.type === "array" ? whole.items : undefined;
    if (list) return this.fields(list, `${before}[]`, depth);
    const within = before === "" ? "" : `${before}.`;
    const required = new Set(whole.required);
    return Object.entries(whole.properties ?? {}).flatMap(([name, field]) => {
      const own = this.input(`${within}${name}`, "body", required.has(name), field);
      return depth + 1 >= DEEPEST ? [own] : [own, ...this.fields(field, `${within}${name}`, depth + 1)];
    });
  }

  /** What kind of value it is, in words. */
  typeWords(schema: Schema, depth = 0): string {
    const name = schema.$ref?.split("/").at(-1);
    const whole = this.resolve(schema);
    const choices = whole.enum ?? (whole.const === undefined ? undefined : [whole.const]);
    if (choices) return choices.map((choice) => JSON.stringify(choice)).join(" or ");
    const several = whole.oneOf ?? whole.anyOf;
    if (several && depth < DEEPEST) {
      const kinds = several.map((one) => this.typeWords(one, depth + 1));
      return [...new Set(kinds)].filter(Boolean).join(" or ");
    }
    const kinds = [whole.type ?? []].flat();
    if (kinds.includes("array") && whole.items && depth < DEEPEST) {
      const others = kinds.filter((kind) => kind !== "array");
      return [`list of ${this.typeWords(whole.items, depth + 1)}`, ...others].join(" or ");
    }
    if (name !== undefined && kinds.includes("object")) return name;
    return kinds.join(" or ") || (name ?? "any value");
  }

  /** A value such as it takes: of an object, what it must have, or else what it may. */
  example(schema: Schema, depth = 0): unknown {
    const whole = this.resolve(schema);
    const stated = whole.example ?? whole.default ?? whole.const ?? whole.enum?.[0];
    if (stated !== undefined) return stated;
    const several = (whole.oneOf ?? whole.anyOf)?.find((one) => this.resolve(one).type !== "null");
    if (several) return this.example(several, depth + 1);
    const kind = [whole.type ?? (whole.properties ? "object" : "string")].flat()[0];
    switch (kind) {
      case "array":
        return whole.items && depth < DEEPEST ? [this.example(whole.items, depth + 1)] : [];
      case "object": {
        const fields = Object.entries(whole.properties ?? {});
        const required = new Set(whole.required);
        const wanted = required.size === 0 ? fields : fields.filter(([name]) => required.has(name));
        const filled = wanted.map(([name, field]) => {
          const value = depth < DEEPEST ? this.example(field, depth + 1) : null;
          return [name, value === "" ? name.toUpperCase() : value] as const;
        });
        return Object.fromEntries(filled);
      }
      case "integer":
      case "number":
        return whole.minimum ?? 1;
      case "boolean":
        return true;
      default:
        // Whoever asked knows its name.
        return "";
    }
  }

  private input(name: string, where: string, required: boolean, schema: Schema, said?: string): Input {
    const whole = this.resolve(schema);
    return {
      name,
      where,
      required,
      type: this.typeWords(schema),
      bounds: boundsWords(whole),
      description: said ?? schema.description ?? whole.description ?? "",
    };
  }

  /** The schema itself, where it is only named, and with all of which it consists. */
  private resolve(schema: Schema, depth = 0): Schema {
    if (depth > DEEPEST) return {};
    const name = schema.$ref?.split("/").at(-1);
    if (name !== undefined) return this.resolve(this.named[name] ?? {}, depth + 1);
    if (!schema.allOf) return schema;
    const parts = schema.allOf.map((part) => this.resolve(part, depth + 1));
    return {
      ...schema,
      ...Object.assign({}, ...parts),
      properties: Object.assign({}, schema.properties, ...parts.map(({ properties }) => properties)),
      required: [...(schema.required ?? []), ...parts.flatMap(({ required }) => required ?? [])],
    };
  }
}
