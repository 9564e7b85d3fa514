// Encodes spans for the OpenTelemetry protocol: an ExportTraceServiceRequest in protobuf. The writer writes
// backwards, so fields are written in reverse order.
import { ProtobufWriter } from "#schema";
import { type AttributeValue, type Attributes, type RemoteSpan, Span, type SpanEvent } from "./span.ts";

const varint = 0;
const fixed64 = 1;
const bytes = 2;
const tag = (field: number, type: number): number => (field << 3) | type;

const kinds = { internal: 1, server: 2, client: 3 } as const;
const failedStatus = 2;
/** Maximum length of an attribute value. */
const maxValueLength = 4096;

/** Encodes ended spans of one resource. */
export function encodeExport(resource: Attributes, scope: string, spans: readonly Span[]): Uint8Array {
  const writer = new ProtobufWriter();
  message(writer, 1, () => {
    message(writer, 2, () => {
      for (const span of spans.toReversed()) message(writer, 2, () => writeSpan(writer, span));
      message(writer, 1, () => text(writer, 1, scope));
    });
    message(writer, 1, () => writeAttributes(writer, 1, resource));
  });
  return writer.finish();
}

function writeSpan(writer: ProtobufWriter, span: Span): void {
  if (span.failed) message(writer, 15, () => integer(writer, 3, failedStatus));
  if (span.link) message(writer, 13, () => writeLink(writer, span.link!));
  if (span.dropped > 0) integer(writer, 12, span.dropped);
  for (const event of span.items.toReversed())
    if (!(event instanceof Span)) message(writer, 11, () => writeEvent(writer, event));
  writeAttributes(writer, 9, span.attributes);
  time(writer, 8, span.ended);
  time(writer, 7, span.began);
  integer(writer, 6, kinds[span.kind]);
  text(writer, 5, span.name);
  if (span.parentId !== "") hexadecimal(writer, 4, span.parentId);
  hexadecimal(writer, 2, span.id);
  hexadecimal(writer, 1, span.trace?.traceId ?? "");
}

function writeEvent(writer: ProtobufWriter, event: SpanEvent): void {
  if (event.attributes) writeAttributes(writer, 3, event.attributes);
  text(writer, 2, event.name);
  time(writer, 1, event.at);
}

function writeLink(writer: ProtobufWriter, link: RemoteSpan): void {
  hexadecimal(writer, 2, link.spanId);
  hexadecimal(writer, 1, link.traceId);
}

export function writeAttributes(writer: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes).toReversed())
    message(writer, field, () => {
      message(writer, 2, () => writeValue(writer, value));
      text(writer, 1, key);
    });
}

function writeValue(writer: ProtobufWriter, value: AttributeValue): void {
  if (typeof value === "string") return text(writer, 1, value.slice(0, maxValueLength));
  if (typeof value === "boolean") {
    writer.bool(value);
    writer.uint32(tag(2, varint));
  } else if (Number.isInteger(value)) {
    writer.int64(value);
    writer.uint32(tag(3, varint));
  } else {
    writer.double(value);
    writer.uint32(tag(4, fixed64));
  }
}

export function message(writer: ProtobufWriter, field: number, write: () => void): void {
  const mark = writer.mark();
  write();
  writer.uint32(writer.mark() - mark);
  writer.uint32(tag(field, bytes));
}

export function text(writer: ProtobufWriter, field: number, value: string): void {
  writer.string(value);
  writer.uint32(tag(field, bytes));
}

export function integer(writer: ProtobufWriter, field: number, value: number): void {
  writer.uint32(value);
  writer.uint32(tag(field, varint));
}

function hexadecimal(writer: ProtobufWriter, field: number, value: string): void {
  writer.bytes(Buffer.from(value, "hex"));
  writer.uint32(tag(field, bytes));
}

/** Writes a time of performance.now() as nanoseconds since the epoch. */
const time = (writer: ProtobufWriter, field: number, at: number): void =>
  fixedTime(writer, field, performance.timeOrigin + at);

/** Writes milliseconds since the epoch as nanoseconds. */
export function fixedTime(writer: ProtobufWriter, field: number, millis: number): void {
  writer.fixed64(BigInt(Math.round(millis * 1000)) * 1000n);
  writer.uint32(tag(field, fixed64));
}
