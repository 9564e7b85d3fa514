// Converts a request to the form of the wire recordings: protobuf field names, enum names, and no zero
// values.
import type { Message, Shape } from "#schema";
import { calls } from "./grpc/calls.ts";

const spelledOtherwise: Readonly<Record<string, string>> = {
  uidMappings: "uidMappings",
  gidMappings: "gidMappings",
  cdiDevices: "CDI_devices",
};
const protocolName = (name: string): string =>
  spelledOtherwise[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Returns the recorded form of a call's request; `method` is the CRI method name, such as `RunPodSandbox`.
 */
export function recordedForm(method: string, request: unknown): unknown {
  const call = Object.values(calls).find(({ name }) => name === method);
  if (!call) throw new TypeError(`the runtime's protocol has no call ${method}`);
  return messageForm(call.request, request);
}

function messageForm(message: Message, value: unknown): Record<string, unknown> {
  const given = (value ?? {}) as Record<string, unknown>;
  const form: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(message.fields)) {
    const shown = valueForm(field.shape, given[name], field.more.enum);
    if (shown !== undefined) form[protocolName(name)] = shown;
  }
  return form;
}

/** Returns undefined for values omitted on the wire. A message that is set is kept even if empty. */
function valueForm(shape: Shape, value: unknown, names?: readonly string[]): unknown {
  if (value === undefined || value === null || value === "" || value === false || value === 0 || value === 0n)
    return undefined;
  if (names && typeof value === "number") return names[value] ?? value;
  if (shape.shape === "message") return messageForm(shape, value);
  if (shape.shape === "list")
    return (value as unknown[]).length === 0
      ? undefined
      : (value as unknown[]).map((item) => valueForm(shape.of, item) ?? item);
  if (shape.shape === "map") return Object.keys(value).length === 0 ? undefined : value;
  return value;
}
