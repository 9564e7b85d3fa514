// Fields of timestamps and durations: getFullYear(), getHours() and so on, in UTC or a named zone.

import { type FunctionDeclaration, type Implementation, declare, method } from "../declarations.ts";
import { calendar } from "../time-values.ts";
import { types } from "../types.ts";
import { Duration, Timestamp, noSuchOverload } from "../values.ts";

const { duration, int, string, timestamp } = types;
const dayMillis = 86_400_000;

type Field = (date: Date, time: Timestamp) => number;

const calendarField =
  (field: Field): Implementation =>
  (time, zone) => {
    if (!(time instanceof Timestamp) || (zone !== undefined && typeof zone !== "string"))
      throw noSuchOverload();
    return field(calendar(time, zone), time);
  };

const dateFunction = (name: string, id: string, field: Field, nanosPerUnit?: bigint): FunctionDeclaration => {
  const ofTime = calendarField(field);
  const apply: Implementation =
    nanosPerUnit === undefined
      ? ofTime
      : (value, ...rest) =>
          value instanceof Duration ? Number(value.nanos / nanosPerUnit) : ofTime(value, ...rest);
  const overloads = [
    method(`timestamp_to_${id}`, [timestamp], int, apply),
    method(`timestamp_to_${id}_with_tz`, [timestamp, string], int, apply),
  ];
  if (nanosPerUnit !== undefined) overloads.push(method(`duration_to_${id}`, [duration], int, apply));
  return declare(name, ...overloads);
};

const dayOfYear: Field = (date) => {
  const start = new Date(date);
  start.setUTCMonth(0, 1);
  return Math.floor((date.getTime() - start.getTime()) / dayMillis);
};

export const dateFunctions: readonly FunctionDeclaration[] = [
  dateFunction("getFullYear", "year", (date) => date.getUTCFullYear()),
  dateFunction("getMonth", "month", (date) => date.getUTCMonth()),
  dateFunction("getDayOfYear", "day_of_year", dayOfYear),
  dateFunction("getDayOfMonth", "day_of_month", (date) => date.getUTCDate() - 1),
  dateFunction("getDate", "day_of_month_1_based", (date) => date.getUTCDate()),
  dateFunction("getDayOfWeek", "day_of_week", (date) => date.getUTCDay()),
  dateFunction("getHours", "hours", (date) => date.getUTCHours(), 3_600_000_000_000n),
  dateFunction("getMinutes", "minutes", (date) => date.getUTCMinutes(), 60_000_000_000n),
  dateFunction("getSeconds", "seconds", (date) => date.getUTCSeconds(), 1_000_000_000n),
  dateFunction(
    "getMilliseconds",
    "milliseconds",
    (_date, time) => Math.floor(time.nanos / 1_000_000),
    1_000_000n,
  ),
];
