// Quantities of resources have a precision of one thousandth; smaller fractions are rounded up on input.
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

/** Rounds requests and limits. */
export function roundUpAll(
  resources: { limits?: Amounts | undefined; requests?: Amounts | undefined } | undefined,
): void {
  roundUp(resources?.limits);
  roundUp(resources?.requests);
}

/** Rounds the quantities of a claim or a claim template. */
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
