// Runs the plugins in their order: all that change, then all that only look.
import { ApiError, type FieldError, invalid } from "#base";
import type { AdmissionAttributes, AdmissionPlugin, Operation } from "./attributes.ts";
import { reinvocation } from "./reinvocation.ts";

export interface AdmissionChain {
  mutate(attributes: AdmissionAttributes): Promise<void>;
  validate(attributes: AdmissionAttributes): Promise<void>;
  readonly plugins: readonly string[];
}

export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const mutating = concerned(plugins.filter((plugin) => plugin.mutate));
  const validating = concerned(plugins.filter((plugin) => plugin.validate));
  return {
    plugins: plugins.map(({ name }) => name),
    mutate: async (attributes) => {
      try {
        reinvocation.reset(attributes.state);
        do for (const plugin of mutating(attributes)) await plugin.mutate!(attributes);
        while (reinvocation.begin(attributes.state));
      } catch (error) {
        throw aboutSomething(error, attributes);
      }
    },
    validate: async (attributes) => {
      const errors: FieldError[] = [];
      try {
        for (const plugin of validating(attributes)) errors.push(...(await plugin.validate!(attributes)));
      } catch (error) {
        throw aboutSomething(error, attributes);
      }
      if (errors.length > 0) throw invalid(attributes.kind, attributes.name, errors);
    },
  };
}

/** A refusal always names what is refused, even what has no name yet. */
function aboutSomething(error: unknown, { name }: AdmissionAttributes): unknown {
  if (
    name !== "" ||
    !(error instanceof ApiError) ||
    error.reason !== "Forbidden" ||
    error.details?.name !== undefined
  )
    return error;
  return new ApiError(
    error.code,
    error.reason,
    error.message.replace(" is forbidden", ' "Unknown" is forbidden'),
    { ...error.details, name: "Unknown" },
  );
}

/**
 * Most plugins look at few kinds: those that a request concerns are found once per operation and resource.
 */
function concerned(
  plugins: readonly AdmissionPlugin[],
): (attributes: AdmissionAttributes) => readonly AdmissionPlugin[] {
  const byOperation = new Map<Operation, Map<string, readonly AdmissionPlugin[]>>();
  return ({ operation, resource: { resource } }) => {
    const known = byOperation.getOrInsertComputed(operation, () => new Map());
    let found = known.get(resource);
    if (!found) {
      found = plugins.filter(
        ({ handles, resources, ignores }) =>
          handles.includes(operation) &&
          (!resources || resources.includes(resource)) &&
          !ignores?.has(resource),
      );
      if (known.size < mostKnown) known.set(resource, found);
    }
    return found;
  };
}

const mostKnown = 4096;
