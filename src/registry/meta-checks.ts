// Validation of metadata by a kind's strategy, in addition to the generic validation: the same checks
// repeated as often as the reference reports their errors for the kind.
import type { ObjectMeta } from "#api";
import type { FieldError } from "#base";
import { dnsSubdomain } from "./names.ts";
import { add, validateFinalizersQualified, validateMeta, validateMetaUpdate } from "./object-meta.ts";
import type { WriteRequest } from "./request.ts";
import type { ApiObject, MetaChecks } from "./strategy.ts";

export function newMetaErrors(request: WriteRequest, object: ApiObject): FieldError[] {
  const { resource } = request.endpoint;
  const { strategy } = resource;
  const rule = strategy.nameRule?.(object) ?? strategy.validateName ?? dnsSubdomain;
  return [
    ...validateMeta(object.metadata, resource.namespaced, rule),
    ...finalizerErrors(request, object.metadata),
  ];
}

export function repeatedMetaErrors(
  request: WriteRequest,
  object: ApiObject,
  old: ApiObject,
  { asNew = 0, asChange = 1 }: MetaChecks = {},
): FieldError[] {
  const { metadata: meta } = object;
  const errors =
    asChange === 1 ? [...validateMetaUpdate(meta, old.metadata), ...finalizerErrors(request, meta)] : [];
  for (let times = 0; times < asNew; times++) add(errors, newMetaErrors(request, object));
  return errors;
}

function finalizerErrors({ endpoint: { resource } }: WriteRequest, { finalizers }: ObjectMeta): FieldError[] {
  return resource.strategy.metaChecks?.anyFinalizer
    ? []
    : validateFinalizersQualified(finalizers, resource.dialect);
}
