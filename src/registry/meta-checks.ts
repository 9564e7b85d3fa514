// What a kind's own rules say of metadata, beside the rules common to all: the same again, as often as
// clients know it from the kind.
import type { ObjectMeta } from "#api";
import type { FieldError } from "#base";
import { dnsSubdomain } from "./names.ts";
import { add, validateFinalizersQualified, validateMeta, validateMetaUpdate } from "./object-meta.ts";
import type { WriteRequest } from "./request.ts";
import type { MetaChecks } from "./strategy.ts";

export function newMetaErrors(request: WriteRequest, meta: ObjectMeta): FieldError[] {
  const { resource } = request.endpoint;
  return [
    ...validateMeta(meta, resource.namespaced, resource.strategy.validateName ?? dnsSubdomain),
    ...finalizerErrors(request, meta),
  ];
}

export function repeatedMetaErrors(
  request: WriteRequest,
  meta: ObjectMeta,
  old: ObjectMeta,
  { asNew = 0, asChange = 1 }: MetaChecks = {},
): FieldError[] {
  const errors = asChange === 1 ? [...validateMetaUpdate(meta, old), ...finalizerErrors(request, meta)] : [];
  for (let times = 0; times < asNew; times++) add(errors, newMetaErrors(request, meta));
  return errors;
}

function finalizerErrors({ endpoint: { resource } }: WriteRequest, { finalizers }: ObjectMeta): FieldError[] {
  return resource.strategy.metaChecks?.anyFinalizer
    ? []
    : validateFinalizersQualified(finalizers, resource.dialect);
}
