import { test } from "node:test";
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import type { Message, Shape } from "#schema";
import { calls } from "./grpc/calls.ts";
import { namespaceMode } from "./messages/common.ts";
import { recordedForm } from "./recorded-form.fixture.ts";

test("a request is shown with the protocol's names and without zero values", () => {
  const request = {
    config: {
      metadata: { name: "plain", uid: "u", namespace: "t1", attempt: 0 },
      logDirectory: "/logs",
      labels: { a: "" },
      annotations: {},
      portMappings: [{ protocol: 1, containerPort: 53 }, {}],
      linux: {
        securityContext: {
          namespaceOptions: { network: namespaceMode.pod, pid: namespaceMode.container },
          seccomp: { profileType: 0 },
          privileged: false,
        },
      },
    },
    runtimeHandler: "",
  };
  assert.deepEqual(recordedForm("RunPodSandbox", request), {
    config: {
      metadata: { name: "plain", uid: "u", namespace: "t1" },
      log_directory: "/logs",
      labels: { a: "" },
      port_mappings: [{ protocol: "UDP", container_port: 53 }, {}],
      linux: { security_context: { namespace_options: { pid: "CONTAINER" }, seccomp: {} } },
    },
  });
  assert.throws(() => recordedForm("Frobnicate", {}), /no call/);
});

const facts = new URL("../../../shared/reference/protobuf-node-facts.json", import.meta.url);
test(
  "every declared field has the protocol's number and type",
  { skip: existsSync(facts) ? false : "the reference facts are not here" },
  () => {
    const { messages, enums } = (
      JSON.parse(readFileSync(facts, "utf8")) as Record<
        string,
        {
          messages: Record<string, Record<string, [number, string, string?]>>;
          enums: Record<string, unknown>;
        }
      >
    )["runtime.v1"]!;
    const scalars: Readonly<Record<string, string>> = { rawBytes: "bytes" };
    const wrong: string[] = [];
    const seen = new Set<Message>();
    const typeOf = (shape: Shape): string => {
      if (shape.shape === "message") {
        check(shape);
        return shape.name;
      }
      if (shape.shape === "list") return typeOf(shape.of);
      return shape.shape === "map"
        ? "map<string,string>"
        : shape.shape === "scalar"
          ? (scalars[shape.scalar] ?? shape.scalar)
          : "?";
    };
    const check = (message: Message): void => {
      if (seen.has(message)) return;
      seen.add(message);
      const fact = messages[message.name === "StreamingResponse" ? "ExecResponse" : message.name];
      if (!fact) return void wrong.push(`${message.name} is not in the protocol`);
      const camel = (name: string): string =>
        name === "CDI_devices"
          ? "cdiDevices"
          : name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const known = new Map(Object.entries(fact).map(([name, reported]) => [camel(name), reported]));
      for (const [name, field] of Object.entries(message.fields)) {
        const [number, type = "", many] = known.get(name) ?? [];
        known.delete(name);
        const isEnum = Object.keys(enums).some((one) => one === type || one.endsWith(`.${type}`));
        // Times are declared unsigned: the encoding is the same, and they are never negative.
        const declared = field.more.enum
          ? isEnum
            ? type
            : "a choice"
          : typeOf(field.shape) === "uint64" && type === "int64"
            ? type
            : typeOf(field.shape);
        if (
          number !== field.number ||
          declared !== type ||
          (many === "repeated") !== (field.shape.shape === "list")
        )
          wrong.push(`${message.name}.${name}`);
      }
      for (const name of known.keys())
        if (name !== "windows") wrong.push(`${message.name}.${name} is missing`);
    };
    for (const { request, response } of Object.values(calls)) [request, response].forEach(check);
    assert.deepEqual(wrong, []);
    assert.ok(seen.size > 100);
  },
);
