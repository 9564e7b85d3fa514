// Runs the admission plugins in order: all mutating ones, then all validating ones.
import type { ObjectMeta } from "#api";
import { ApiError, type FieldError, invalid } from "#base";
import type { AdmissionAttributes, AdmissionPlugin, Operation } from "./attributes.ts";
import { reinvocation } from "./reinvocation.ts";
import { type AdmissionObserver, StepTimes, unobserved } from "./step-times.ts";

export interface AdmissionChain {
  mutate(attributes: AdmissionAttributes): Promise<void>;
  validate(attributes: AdmissionAttributes): Promise<void>;
  readonly plugins: readonly string[];
}

/** Returns the chain of the plugins; `observer` records their latencies. */
export function admissionChain(
  plugins: readonly AdmissionPlugin[],
  observer: AdmissionObserver = unobserved,
): AdmissionChain {
  const mutating = selectPlugins(plugins.filter((plugin) => plugin.mutate));
  const validating = selectPlugins(plugins.filter((plugin) => plugin.validate));
  return {
    plugins: plugins.map(({ name }) => name),
    mutate: async (attributes) => {
      const times = new StepTimes(observer, "admit", attributes.operation);
      let running: AdmissionPlugin | undefined;
      try {
        reinvocation.reset(attributes.state);
        do
          for (const plugin of mutating(attributes)) {
            times.begin(plugin);
            running = plugin;
            const waiting = plugin.mutate!(attributes);
            if (waiting) await waiting;
            times.end(false);
          }
        while (reinvocation.begin(attributes.state));
      } catch (error) {
        times.fail();
        throw running?.omitsPlaceholderName ? error : withPlaceholderName(error, attributes);
      }
      times.endStep(false);
    },
    validate: async (attributes) => {
      const times = new StepTimes(observer, "validate", attributes.operation);
      const errors: FieldError[] = [];
      try {
        for (const plugin of validating(attributes)) {
          times.begin(plugin);
          const waiting = plugin.validate!(attributes);
          const found = waiting instanceof Promise ? await waiting : waiting;
          if (found.length > 0) errors.push(...found);
          times.end(found.length > 0);
        }
      } catch (error) {
        times.fail();
        throw withPlaceholderName(error, attributes);
      }
      times.endStep(errors.length > 0);
      if (errors.length > 0) throw invalid(attributes.kind, attributes.name, errors);
    },
  };
}

/** Adds a name to a refusal of an object that has none yet: its generateName, or `Unknown`. */
function withPlaceholderName(error: unknown, { name, object }: AdmissionAttributes): unknown {
  if (
    name !== "" ||
    !(error instanceof ApiError) ||
    error.reason !== "Forbidden" ||
    error.details?.name !== undefined
  )
    return error;
  const { generateName } = (object?.["metadata"] ?? {}) as ObjectMeta;
  const shown = generateName || "Unknown";
  return new ApiError(
    error.code,
    error.reason,
    error.message.replace(" is forbidden", () => ` ${JSON.stringify(shown)} is forbidden`),
    { ...error.details, name: shown },
  );
}

/** Selects the plugins that handle a request; computed once per operation and resource. */
function selectPlugins(
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
      if (known.size < maxCachedResources) known.set(resource, found);
    }
    return found;
  };
}

const maxCachedResources = 4096;
