// Runs the plugins in their order: all that change, then all that only look.
import { ApiError, type FieldError, invalid } from "#base";
import type { AdmissionPlugin, Attempt } from "./attempt.ts";

export interface AdmissionChain {
  mutate(attempt: Attempt): Promise<void>;
  validate(attempt: Attempt): Promise<void>;
  readonly plugins: readonly string[];
}

export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const mutating = concerned(plugins.filter((plugin) => plugin.mutate));
  const validating = concerned(plugins.filter((plugin) => plugin.validate));
  return {
    plugins: plugins.map(({ name }) => name),
    mutate: async (attempt) => {
      try {
        for (const plugin of mutating(attempt)) await plugin.mutate!(attempt);
      } catch (error) {
        throw aboutSomething(error, attempt);
      }
    },
    validate: async (attempt) => {
      const errors: FieldError[] = [];
      try {
        for (const plugin of validating(attempt)) errors.push(...(await plugin.validate!(attempt)));
      } catch (error) {
        throw aboutSomething(error, attempt);
      }
      if (errors.length > 0) throw invalid(attempt.kind, attempt.name, errors);
    },
  };
}

/** A refusal always names what is refused, even what has no name yet. */
function aboutSomething(error: unknown, { name }: Attempt): unknown {
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
function concerned(plugins: readonly AdmissionPlugin[]): (attempt: Attempt) => readonly AdmissionPlugin[] {
  const known = new Map<string, readonly AdmissionPlugin[]>();
  return ({ operation, resource: { resource } }) => {
    const id = `${operation} ${resource}`;
    let found = known.get(id);
    if (!found) {
      found = plugins.filter(
        ({ handles, resources, ignores }) =>
          handles.includes(operation) &&
          (!resources || resources.includes(resource)) &&
          !ignores?.has(resource),
      );
      if (known.size < mostKnown) known.set(id, found);
    }
    return found;
  };
}

const mostKnown = 4096;
