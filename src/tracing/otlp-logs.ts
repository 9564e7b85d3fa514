// Encodes log records for the OpenTelemetry protocol: an ExportLogsServiceRequest in protobuf.
import type { GrpcMethod } from "#http";
import { ProtobufWriter } from "#schema";
import { fixedTime, integer, message, text, writeAttributes } from "./otlp.ts";
import type { Attributes } from "./span.ts";

export interface LogRecord {
  readonly timeMillis: number;
  readonly observedMillis: number;
  /** The protocol's severity number: 9 is INFO, 13 is WARN. */
  readonly severity: number;
  readonly severityText: string;
  readonly body: string;
  readonly attributes: Attributes;
}

export const exportLogs: GrpcMethod<Uint8Array, undefined> = {
  path: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
  encode: (request) => request,
  decode: () => undefined,
};

/** Encodes records of one resource. */
export function encodeLogs(resource: Attributes, scope: string, records: readonly LogRecord[]): Uint8Array {
  const writer = new ProtobufWriter();
  message(writer, 1, () => {
    message(writer, 2, () => {
      for (const record of records.toReversed()) message(writer, 2, () => writeRecord(writer, record));
      message(writer, 1, () => text(writer, 1, scope));
    });
    message(writer, 1, () => writeAttributes(writer, 1, resource));
  });
  return writer.finish();
}

function writeRecord(writer: ProtobufWriter, record: LogRecord): void {
  fixedTime(writer, 11, record.observedMillis);
  writeAttributes(writer, 6, record.attributes);
  message(writer, 5, () => text(writer, 1, record.body));
  text(writer, 3, record.severityText);
  integer(writer, 2, record.severity);
  fixedTime(writer, 1, record.timeMillis);
}
