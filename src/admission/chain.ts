// Runs the plugins in their order: all that change, then all that only look.
import { type FieldError, invalid } from "#base";
import type { AdmissionPlugin, Attempt } from "./attempt.ts";

export interface AdmissionChain {
  mutate(attempt: Attempt): Promise<void>;
  validate(attempt: Attempt): Promise<void>;
  readonly plugins: readonly string[];
}

export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const mutating = plugins.filter((plugin) => plugin.mutate);
  const validating = plugins.filter((plugin) => plugin.validate);
  return {
    plugins: plugins.map(({ name }) => name),
    mutate: async (attempt) => {
      for (const plugin of mutating) if (plugin.handles.includes(attempt.operation)) await plugin.mutate!(attempt);
    },
    validate: async (attempt) => {
      const errors: FieldError[] = [];
      for (const plugin of validating) if (plugin.handles.includes(attempt.operation)) errors.push(...(await plugin.validate!(attempt)));
      if (errors.length > 0) throw invalid(attempt.kind, attempt.name, errors);
    },
  };
}
