import { expect, test } from "vitest";
import { streamAddress } from "../src/api-addresses";
import {
  boundsWords,
  curl,
  grouped,
  matchingOperations,
  operationsOf,
  type ApiDocument,
} from "../src/api-help/document";
import { apiHelpLink, routeOf } from "../src/route";

const token = [{ token: [] }];
const described: ApiDocument = {
  paths: {
    "/api/v1/users/{user}/rules": {
      get: {
        tags: ["alerts"],
        summary: "A user's rules",
        security: token,
        parameters: [
          { name: "user", in: "path", required: true, schema: { type: "string" } },
          {
            name: "limit",
            in: "query",
            description: "At most so many",
            schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
          },
        ],
        responses: {
          "200": {
            description: "",
            content: {
              "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Rule" } } },
            },
          },
        },
      },
      post: {
        tags: ["alerts"],
        summary: "Makes a rule",
        description: "It watches a stream.",
        security: token,
        requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Rule" } } } },
      },
    },
    "/api/v1/login": {
      post: {
        tags: ["accounts"],
        summary: "Begins a session",
        security: [{}, { token: [] }],
        requestBody: {
          content: {
            "application/json": {
              schema: {
                type: "object",
                required: ["username"],
                properties: { username: { type: "string", maxLength: 64, example: "O'Neil" } },
              },
            },
          },
        },
      },
    },
    "/api/v1/live": { get: { tags: ["data"], summary: "Follows all points", security: token } },
  },
  components: {
    schemas: {
      Rule: {
        type: "object",
        required: ["label", "condition"],
        properties: {
          label: { type: "string", description: "Its name" },
          condition: { $ref: "#/components/schemas/Condition" },
          within: { $ref: "#/components/schemas/Rule" },
          channels: { type: "array", items: { type: "string" }, maxItems: 4 },
          severity: { oneOf: [{ type: "null" }, { type: "string", enum: ["warning", "critical"] }] },
        },
      },
      Condition: {
        type: "object",
        required: ["operand"],
        properties: { operand: { type: "number", minimum: 0 } },
      },
    },
  },
};
const operations = operationsOf(described);
const find = (method: string, path: string) =>
  operations.find((one) => one.method === method && one.path.endsWith(path))!;

test("each method of each path is shown with what it takes and within which bounds", () => {
  expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /api/v1/users/{user}/rules",
    "POST /api/v1/users/{user}/rules",
    "POST /api/v1/login",
    "GET /api/v1/live",
  ]);
  expect(find("GET", "/rules").inputs).toEqual([
    { name: "user", where: "path", required: true, type: "string", bounds: "", description: "" },
    {
      name: "limit",
      where: "query",
      required: false,
      type: "integer",
      bounds: "1 to 1000, 100 without it",
      description: "At most so many",
    },
  ]);
  expect(find("GET", "/rules").outcomes[0]!.content).toEqual([["application/json", "list of Rule"]]);
});

test("fields of a body are told with those within them, and what holds itself has an end", () => {
  const { inputs } = find("POST", "/rules");
  const named = (name: string) => inputs.find((input) => input.name === name);
  expect(named("label")).toMatchObject({ where: "body", required: true, type: "string" });
  expect(named("condition")).toMatchObject({ required: true, type: "Condition" });
  expect(named("condition.operand")).toMatchObject({ type: "number", bounds: "at least 0" });
  expect(named("channels")).toMatchObject({ type: "list of string", bounds: "at most 4 items" });
  expect(named("severity")).toMatchObject({ required: false, type: 'null or "warning" or "critical"' });
  expect(named("within.within.within.label")).toBeDefined();
  expect(inputs.length).toBeLessThan(40);
});

test("an example is a command line that a shell takes as it is meant", () => {
  expect(curl(find("POST", "/rules"), "https://cloud.example", { user: "ann & bob" })).toBe(
    [
      "curl -X POST 'https://cloud.example/api/v1/users/ann%20%26%20bob/rules' \\",
      "  -H 'Authorization: Bearer TOKEN' \\",
      "  -H 'Content-Type: application/json' \\",
      `  -d '{"label":"LABEL","condition":{"operand":0}}'`,
    ].join("\n"),
  );
  const login = curl(find("POST", "/login"), "http://127.0.0.1:8080");
  expect(login).not.toContain("Authorization");
  expect(login).toContain(`-d '{"username":"O'\\''Neil"}'`);
  expect(curl(find("GET", "/rules"), "")).toContain("curl '/api/v1/users/USER/rules'");
  expect(curl(find("GET", "/live"), "")).toContain("curl -N '/api/v1/live'");
});

test("operations are found by their words and stand in groups", () => {
  const found = (text: string) =>
    matchingOperations(operations, text).map(({ method, path }) => `${method} ${path}`);
  expect(found("rules post")).toEqual(["POST /api/v1/users/{user}/rules"]);
  expect(found("LIMIT")).toEqual(["GET /api/v1/users/{user}/rules"]);
  expect(found("nothing like it")).toEqual([]);
  expect(found(" ")).toHaveLength(operations.length);
  expect(grouped(operations).map(([group, within]) => [group, within.length])).toEqual([
    ["accounts", 1],
    ["alerts", 2],
    ["data", 1],
  ]);
});

test("bounds are said in words", () => {
  expect(boundsWords({ type: "string", minLength: 1, maxLength: 64 })).toBe("1 to 64 characters");
  expect(boundsWords({ type: "integer", maximum: 0 })).toBe("at most 0");
  expect(boundsWords({ type: "boolean", default: false })).toBe("false without it");
  expect(boundsWords({ type: "string" })).toBe("");
});

test("the help has an address, also with what is looked for", () => {
  expect(routeOf(apiHelpLink(""))).toEqual({ page: "api" });
  expect(apiHelpLink("get data")).toBe("#/api?search=get+data");
  expect(routeOf(apiHelpLink("get data"))).toEqual({ page: "api" });
});

test("the address of a stream stays when its device is named otherwise", () => {
  expect(streamAddress("https://cloud.example", "ann/x", 3, 17)).toBe(
    "https://cloud.example/api/v1/users/ann%2Fx/resources/3/streams/17/data",
  );
});
