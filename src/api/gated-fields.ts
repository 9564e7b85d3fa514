// Fields of later releases are declared with the feature gate that adds them. Clients know all of them; a
// server leaves out those whose gates are off, as if they had never been declared.
import type { Fields, Message, Shape } from "#schema";

export const fieldGates = ["PodLifecycleSleepAction", "SidecarContainers"] as const;
export type FieldGate = (typeof fieldGates)[number];

/** Declarations as a server with these gates has them; one without such fields, all the way down, is kept. */
export function gatedFields(isOn: (gate: string) => boolean): <M extends Message>(message: M) => M {
  const known = new Map<Message, Message>();

  function withoutGated(message: Message): Message {
    let found = known.get(message);
    if (!found) known.set(message, (found = reduced(message)));
    return found;
  }

  function reduced(message: Message): Message {
    const fields: Record<string, Fields[string]> = {};
    let changed = false;
    for (const [key, field] of Object.entries(message.fields)) {
      if (field.more.gate !== undefined && !isOn(field.more.gate)) {
        changed = true;
        continue;
      }
      const shape = reshape(field.shape);
      changed ||= shape !== field.shape;
      fields[key] = shape === field.shape ? field : { ...field, shape };
    }
    return changed ? { ...message, fields } : message;
  }

  // Declarations that contain themselves have no gated fields.
  function reshape(shape: Shape): Shape {
    if (shape.shape === "message") return withoutGated(shape);
    if (shape.shape !== "list" && shape.shape !== "map") return shape;
    const of = reshape(shape.of);
    return of === shape.of ? shape : { ...shape, of };
  }

  return (message) => withoutGated(message) as typeof message;
}
