// A KMS plugin on a unix socket, versions 1 and 2, as a separate process that tests kill and stop. Its
// "encryption" flips bits, which suffices for tests.
//   node kms-program.ts SOCKET
import { type GrpcMethod, grpcServer, unaryProcedure } from "#http";

const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 0x55);

function message(...fields: readonly (readonly [number: number, value: string | Uint8Array])[]): Uint8Array {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      const bytes = Buffer.from(value as string);
      return [Buffer.of((number << 3) | 2, bytes.length), bytes];
    }),
  );
}

/** Returns a bytes field; all lengths are below 128. */
function fieldOf(bytes: Uint8Array, wanted: number): Uint8Array {
  for (let at = 0; at < bytes.length; at += 2 + bytes[at + 1]!)
    if (bytes[at]! >> 3 === wanted) return bytes.subarray(at + 2, at + 2 + bytes[at + 1]!);
  return new Uint8Array();
}

const procedure = (path: string, answer: (request: Uint8Array) => Uint8Array) => {
  const method: GrpcMethod<Uint8Array, Uint8Array> = {
    path,
    encode: (bytes) => bytes,
    decode: (bytes) => bytes,
  };
  return unaryProcedure(method, answer);
};
const v1 = "/v1beta1.KeyManagementService";
const v2 = "/v2.KeyManagementService";
await grpcServer({
  socketPath: process.argv[2]!,
  procedures: [
    procedure(`${v1}/Version`, () => message([1, "v1beta1"])),
    procedure(`${v1}/Encrypt`, (request) => message([1, flipped(fieldOf(request, 2))])),
    procedure(`${v1}/Decrypt`, (request) => message([1, flipped(fieldOf(request, 2))])),
    procedure(`${v2}/Status`, () => message([1, "v2beta1"], [2, "ok"], [3, "key-1"])),
    procedure(`${v2}/Encrypt`, (request) => message([1, flipped(fieldOf(request, 1))], [2, "key-1"])),
    procedure(`${v2}/Decrypt`, (request) => message([1, flipped(fieldOf(request, 1))])),
  ],
});
process.stdout.write("ready\n");
