// Quantities such as "1500m" and "1.5Gi", with exact comparison and arithmetic.

import {
  type Quantity,
  QuantityError,
  addQuantity,
  compareQuantity,
  parseQuantity,
  quantityOf,
  subtractQuantity,
} from "#base";
import { type Library, declare, method, overload } from "../declarations.ts";
import { type CelType, objectType, types } from "../types.ts";
import { Double, Opaque, type Value, evaluationError, intOf, noSuchOverload } from "../values.ts";

const { bool, double, int, string } = types;

export function quantitiesLibrary(typePrefix: string): Library {
  const type = objectType(`${typePrefix}.Quantity`);
  const made = (quantity: Quantity): Value => new QuantityValue(type, quantity);
  const other = (value: Value): Quantity =>
    typeof value === "number" || typeof value === "bigint"
      ? quantityOf(value, 0, "DecimalExponent")
      : quantityIn(value);
  return [
    declare(
      "quantity",
      overload("string_to_quantity", [string], type, (text) => made(read(text as string))),
    ),
    declare(
      "isQuantity",
      overload("is_quantity_string", [string], bool, (text) => isQuantity(text as string)),
    ),
    declare(
      "sign",
      overload("quantity_sign", [type], int, (value) => {
        const { value: amount } = quantityIn(value);
        return amount > 0n ? 1 : amount < 0n ? -1 : 0;
      }),
    ),
    declare(
      "isGreaterThan",
      method("quantity_is_greater_than", [type, type], bool, (left, right) => order(left, right) > 0),
    ),
    declare(
      "isLessThan",
      method("quantity_is_less_than", [type, type], bool, (left, right) => order(left, right) < 0),
    ),
    declare("compareTo", method("quantity_compare_to", [type, type], int, order)),
    declare(
      "asApproximateFloat",
      method("quantity_get_float", [type], double, (value) => {
        const { value: amount, scale } = quantityIn(value);
        return new Double(Number(`${amount}e${scale}`));
      }),
    ),
    declare(
      "asInteger",
      method("quantity_get_int", [type], int, (value) => {
        const whole = wholeIn(value);
        if (whole === undefined) throw evaluationError("cannot convert value to integer");
        return intOf(whole);
      }),
    ),
    declare(
      "isInteger",
      method("quantity_is_integer", [type], bool, (value) => wholeIn(value) !== undefined),
    ),
    declare(
      "add",
      method("quantity_add", [type, type], type, (a, b) => made(addQuantity(quantityIn(a), other(b)))),
      method("quantity_add_int", [type, int], type, (a, b) => made(addQuantity(quantityIn(a), other(b)))),
    ),
    declare(
      "sub",
      method("quantity_sub", [type, type], type, (a, b) => made(subtractQuantity(quantityIn(a), other(b)))),
      method("quantity_sub_int", [type, int], type, (a, b) =>
        made(subtractQuantity(quantityIn(a), other(b))),
      ),
    ),
  ];
}

class QuantityValue extends Opaque {
  readonly type: CelType;
  readonly quantity: Quantity;

  constructor(type: CelType, quantity: Quantity) {
    super();
    this.type = type;
    this.quantity = quantity;
  }

  override equals(other: Opaque): boolean {
    return other instanceof QuantityValue && compareQuantity(this.quantity, other.quantity) === 0;
  }
}

function quantityIn(value: Value): Quantity {
  if (!(value instanceof QuantityValue)) throw noSuchOverload();
  return value.quantity;
}

const order = (left: Value, right: Value): number => compareQuantity(quantityIn(left), quantityIn(right));

function read(text: string): Quantity {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) throw evaluationError(error.message);
    throw error;
  }
}

function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

const maxInt = (1n << 63n) - 1n;

/** Returns the quantity as an integer, if it is one and fits in 64 bits. */
function wholeIn(value: Value): bigint | undefined {
  const { value: amount, scale } = quantityIn(value);
  const factor = 10n ** BigInt(Math.abs(scale));
  if (scale < 0 && amount % factor !== 0n) return undefined;
  const whole = scale < 0 ? amount / factor : amount * factor;
  return whole > maxInt || whole < -maxInt ? undefined : whole;
}
