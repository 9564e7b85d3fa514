// Every endpoint that is not plain reading and writing, in its group.
import { type AdmissionPlugin, admissionChain } from "#admission";
import { bindingEndpoints } from "./bindings.ts";
import type { SpecialGroup } from "./catalog.ts";
import { evictionEndpoint } from "./eviction.ts";
import type { Core } from "./server.ts";
import type { SpecialContext } from "./special.ts";

export interface SpecialsOptions {
  readonly plugins: readonly AdmissionPlugin[];
}

export function specialGroups(core: Core, options: SpecialsOptions): readonly SpecialGroup[] {
  const context: SpecialContext = { dialect: core.options.dialect, admission: admissionChain(options.plugins) };
  return [{ group: "", branded: false, version: "v1", endpoints: [...bindingEndpoints(core, context), evictionEndpoint(core, context)] }];
}
