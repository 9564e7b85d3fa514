// A server with custom resource definitions, each in a separate group.
import { eventually } from "#kit";
import { type Json, serve } from "../../server.fixture.ts";

export const { must, ask, place, watch } = await serve();
export const definitions = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
let count = 0;
export const newGroup = (): string => `g${++count}.example.com`;

export interface Defined {
  readonly group: string;
  readonly name: string;
}

export const definition = (versions: Json[], more: Json = {}): Json & { metadata: { name: string } } => {
  const group = newGroup();
  const names = { plural: "widgets", kind: "Widget" };
  return {
    metadata: { name: `widgets.${group}` },
    spec: { group, scope: "Namespaced", names, versions, ...more },
  };
};

/** Defines a kind in a new group and waits until it is served. */
export async function define(versions: Json[], more: Json = {}): Promise<Defined> {
  const body = definition(versions, more);
  await must(201, "POST", definitions, { body });
  const { group } = body["spec"] as { group: string };
  await eventually(async () => (await ask("GET", `/apis/${group}`)).status === 200);
  return { group, name: body.metadata.name };
}

export const version = (properties: Json, more: Json = {}): Json => ({
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: "object", properties } },
  ...more,
});

export const widget = ({ group }: Defined, name: string, rest: Json, apiVersion = "v1"): Json => ({
  apiVersion: `${group}/${apiVersion}`,
  kind: "Widget",
  metadata: { name },
  ...rest,
});

export const spec = (properties: Json): Json => ({ spec: { type: "object", properties } });
