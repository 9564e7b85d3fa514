// Amounts of resources are kept in thousandths at most; what is smaller is rounded up on the way in.
import { formatQuantity, parseQuantity, scaledValue } from "#base";

type Amounts = Record<string, string>;

export function roundUp(amounts: Amounts | undefined): void {
  for (const [name, text] of Object.entries(amounts ?? {})) {
    const quantity = parseQuantity(text);
    if (quantity.scale < -3)
      amounts![name] = formatQuantity({
        value: scaledValue(quantity, -3),
        scale: -3,
        format: quantity.format,
      });
  }
}

/** Of all that is asked for and limited. */
export function roundUpAll(
  resources: { limits?: Amounts | undefined; requests?: Amounts | undefined } | undefined,
): void {
  roundUp(resources?.limits);
  roundUp(resources?.requests);
}

/** Of a claim, whether it stands alone or in a template. */
export function roundUpClaim({
  spec,
  status,
}: {
  readonly spec: { readonly resources?: Parameters<typeof roundUpAll>[0] };
  readonly status?:
    | { readonly capacity?: Amounts | undefined; readonly allocatedResources?: Amounts | undefined }
    | undefined;
}): void {
  roundUpAll(spec.resources);
  roundUp(status?.capacity);
  roundUp(status?.allocatedResources);
}
