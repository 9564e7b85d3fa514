// The built-in resources and custom resource definitions, as configured by the settings.
import { minorOf } from "#base";
import { type Dialect, groupName } from "#dialect";
import { servedApis, switchedOn, versionsSwitchedOn } from "#endpoints";
import { type DefinitionGates, definitionStrategy } from "#extensions";
import type { Gates } from "#options";
import {
  type Strategy,
  builtInStrategies,
  gatedStrategies,
  withLaterFlows,
  withLaterPolicies,
} from "#registry";
import type { ApiserverSettings } from "../options/settings.ts";

/**
 * Returns the strategies, with that of services which allocates their addresses. Fields of later releases depend
 * on their gates and releases; before 1.28 later versions of policies must be enabled by name.
 */
export function strategiesFor(
  settings: ApiserverSettings,
  gates: Gates,
  dialect: Dialect,
  services: Strategy,
): readonly Strategy[] {
  const release = minorOf(settings.release);
  const later =
    gates.enabled("ValidatingAdmissionPolicy") && (release >= 28 || enablesLaterPolicies(settings, dialect));
  const own = withLaterFlows(builtInStrategies, release).map((each) =>
    each.hub === services.hub ? services : each,
  );
  const strategies = later ? withLaterPolicies(own) : own;
  const expressionRelease = minorOf(settings.expressionRelease);
  const definitions = definitionStrategy({ dialect, release: expressionRelease }, definitionGates(gates));
  const serves = servedApis(settings.runtimeConfig, dialect);
  const enabled = strategies.filter(({ onlyIfServed, hub: { kind }, resource }) =>
    onlyIfServed ? serves(groupName(dialect, kind), kind.version, resource) : true,
  );
  return gatedStrategies([...enabled, definitions], { isOn: gates.enabled, expressionRelease });
}

/** Returns the feature gates that concern custom resource definitions and custom resources. */
export const definitionGates = (gates: Gates): DefinitionGates => ({
  expressions: gates.enabled("CustomResourceValidationExpressions"),
  ratcheting: gates.enabled("CRDValidationRatcheting"),
  selectors: gates.enabled("CustomResourceFieldSelectors"),
});

function enablesLaterPolicies({ runtimeConfig }: ApiserverSettings, dialect: Dialect): boolean {
  const group = groupName(dialect, { group: "admissionregistration", branded: true });
  const stable = runtimeConfig[`${group}/v1/validatingadmissionpolicies`];
  return (
    versionsSwitchedOn(runtimeConfig).includes(`${group}/v1beta1`) ||
    (stable !== undefined && switchedOn(stable))
  );
}
