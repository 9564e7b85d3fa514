// Structural validation: closed enums and field rules, each error with its path. Rules that involve more than
// one field belong to a kind's strategy. A decoded object does not show whether a required field was given
// (the zero value takes its place), so a field that must not be empty declares the rule `filled`.

import { type FieldError, notSupported } from "#base";
import { flatFields } from "./flat.ts";
import type { TypeOf } from "./infer.ts";
import { filled } from "./rules.ts";
import type { Field, Message, Rule, Shape } from "./shape.ts";

type Validator = (value: unknown, path: string, errors: FieldError[]) => void;

/** `run` is undefined for messages that contain nothing to validate at any level. */
const validators = new WeakMap<Message, { run: Validator | undefined }>();

/** Returns the validation errors of an object; `path` is the object's location, such as `spec.template`. */
export function validate<M extends Message>(message: M, value: TypeOf<M>, path = ""): FieldError[] {
  const errors: FieldError[] = [];
  validatorOf(message)?.(value, path, errors);
  return errors;
}

function validatorOf(message: Message): Validator | undefined {
  const known = validators.get(message);
  if (known) return known.run;
  const slot: { run: Validator | undefined } = { run: undefined };
  validators.set(message, slot);
  if (!checksAnything(message, new Set())) return undefined;
  let fields: { readonly name: string; readonly check: Validator }[] | undefined;
  slot.run = (value, path, errors) => {
    fields ??= flatFields(message).flatMap(({ name, field }) => {
      const check = fieldValidator(field);
      return check ? [{ name, check }] : [];
    });
    for (const { name, check } of fields)
      check((value as Record<string, unknown>)[name], path ? `${path}.${name}` : name, errors);
  };
  return slot.run;
}

function checksAnything(message: Message, seen: Set<Message>): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return flatFields(message).some(({ field }) => {
    if (hasChecks(field)) return true;
    const inner = innermost(field.shape);
    return inner !== undefined && checksAnything(inner, seen);
  });
}

const hasChecks = ({ more }: Field): boolean =>
  (more.rules !== undefined && more.rules.length > 0) || (more.enum !== undefined && !more.openEnum);

function innermost(shape: Shape): Message | undefined {
  switch (shape.shape) {
    case "message":
      return shape;
    case "recursive":
      return shape.get();
    case "list":
    case "map":
      return innermost(shape.of);
    case "scalar":
      return undefined;
  }
}

function fieldValidator(field: Field): Validator | undefined {
  const { rules = [], enum: values, openEnum } = field.more;
  const inner = shapeValidator(field.shape);
  const closed = values !== undefined && !openEnum ? values : undefined;
  if (!inner && rules.length === 0 && !closed) return undefined;
  return (value, path, errors) => {
    if (value === undefined || value === null) {
      if (rules.includes(filled)) report(filled, value, path, errors);
      return;
    }
    for (const rule of rules) report(rule, value, path, errors);
    if (closed) {
      if (!Array.isArray(value)) checkEnum(closed, value, path, errors);
      else value.forEach((item, i) => checkEnum(closed, item, `${path}[${i}]`, errors));
    }
    inner?.(value, path, errors);
  };
}

function checkEnum(values: readonly string[], value: unknown, path: string, errors: FieldError[]): void {
  if (value !== "" && !values.includes(value as string)) errors.push(notSupported(path, value, values));
}

function report(rule: Rule, value: unknown, path: string, errors: FieldError[]): void {
  const found = rule(value as never);
  if (found === undefined) return;
  for (const { type, detail } of Array.isArray(found) ? found : [found])
    errors.push({ type, field: path, detail, value });
}

function shapeValidator(shape: Shape): Validator | undefined {
  switch (shape.shape) {
    case "message":
      return validatorOf(shape);
    case "recursive":
      return shape.or ? undefined : (value, path, errors) => validatorOf(shape.get())?.(value, path, errors);
    case "list": {
      const item = shapeValidator(shape.of);
      return (
        item &&
        ((value, path, errors) =>
          (value as unknown[]).forEach((entry, i) => entry !== null && item(entry, `${path}[${i}]`, errors)))
      );
    }
    case "map": {
      const item = shapeValidator(shape.of);
      return (
        item &&
        ((value, path, errors) =>
          Object.entries(value as object).forEach(
            ([key, entry]) => entry !== null && item(entry, `${path}[${key}]`, errors),
          ))
      );
    }
    case "scalar":
      return undefined;
  }
}
