// HTTP/2 frames (RFC 9113): constants, and encoding of control frames.

export const frameHead = 9;
/** Maximum payload sent: the initial SETTINGS_MAX_FRAME_SIZE, which every client accepts. */
export const frameBytes = 16_384;
/** Maximum payload accepted, announced in SETTINGS. */
export const maxFrameBytes = 262_144;
export const maxWindow = 0x7fff_ffff;
export const initialWindowSize = 65_535;

export const frame = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxStreams: 3,
  initialWindow: 4,
  maxFrame: 5,
  maxHeaderList: 6,
} as const;

export const errorCode = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;

export type ErrorCode = (typeof errorCode)[keyof typeof errorCode];

/** A client error that ends the connection (RFC 9113 §5.4.1). */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function writeHead(
  into: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): void {
  into[at] = length >> 16;
  into[at + 1] = length >> 8;
  into[at + 2] = length;
  into[at + 3] = type;
  into[at + 4] = flags;
  into[at + 5] = stream >> 24;
  into[at + 6] = stream >> 16;
  into[at + 7] = stream >> 8;
  into[at + 8] = stream;
}

/** Encodes a frame whose payload is a sequence of 32-bit numbers. */
export function numbersFrame(type: number, stream: number, ...numbers: readonly number[]): Buffer {
  const made = Buffer.allocUnsafe(frameHead + numbers.length * 4);
  writeHead(made, 0, numbers.length * 4, type, 0, stream);
  numbers.forEach((number, at) => made.writeUInt32BE(number, frameHead + at * 4));
  return made;
}

export function settingsFrame(settings: Readonly<Record<number, number>>): Buffer {
  const pairs = Object.entries(settings);
  const made = Buffer.allocUnsafe(frameHead + pairs.length * 6);
  writeHead(made, 0, pairs.length * 6, frame.settings, 0, 0);
  pairs.forEach(([name, value], at) => {
    made.writeUInt16BE(Number(name), frameHead + at * 6);
    made.writeUInt32BE(value, frameHead + at * 6 + 2);
  });
  return made;
}

export function acknowledgement(type: number, payload: Uint8Array): Buffer {
  const made = Buffer.allocUnsafe(frameHead + payload.length);
  writeHead(made, 0, payload.length, type, flag.ack, 0);
  made.set(payload, frameHead);
  return made;
}

/** Encodes GOAWAY, with a message for debugging the client. */
export function goAwayFrame(lastStream: number, code: ErrorCode, message = ""): Buffer {
  const debug = Buffer.from(message);
  const made = Buffer.concat([numbersFrame(frame.goAway, 0, lastStream, code), debug]);
  writeHead(made, 0, 8 + debug.length, frame.goAway, 0, 0);
  return made;
}

/** Encodes HEADERS with the interim status 100 (Continue). */
export function continueFrame(stream: number): Buffer {
  const block = Buffer.from("\x08\x03100");
  const made = Buffer.allocUnsafe(frameHead + block.length);
  writeHead(made, 0, block.length, frame.headers, flag.endHeaders, stream);
  made.set(block, frameHead);
  return made;
}

/** Returns the payload without its padding. */
export function unpadded(flags: number, payload: Buffer): Buffer {
  if (!(flags & flag.padded)) return payload;
  if (payload.length === 0) throw new ConnectionError(errorCode.frameSize, "the pad length is missing");
  const padding = payload[0]!;
  if (padding >= payload.length)
    throw new ConnectionError(errorCode.protocol, "the padding is longer than the payload");
  return payload.subarray(1, payload.length - padding);
}

/** Throws if a setting has a value that RFC 9113 §6.5.2 forbids. */
export function checkSetting(name: number, value: number): void {
  if (name === setting.enablePush && value > 1)
    throw new ConnectionError(errorCode.protocol, "SETTINGS_ENABLE_PUSH is neither 0 nor 1");
  if (name === setting.maxFrame && (value < frameBytes || value > 0xff_ffff))
    throw new ConnectionError(errorCode.protocol, `SETTINGS_MAX_FRAME_SIZE is ${value}`);
  if (name === setting.initialWindow && value > maxWindow)
    throw new ConnectionError(errorCode.flowControl, `SETTINGS_INITIAL_WINDOW_SIZE is ${value}`);
}
