// The KMS protocol, versions v1beta1 and v2, and the envelope that version 2 stores.
import type { GrpcMethod } from "#http";
import {
  type Message,
  type TypeOf,
  apiPackage,
  list,
  optional,
  protobufCodec,
  rawBytes,
  string,
} from "#schema";

const { message } = apiPackage({ package: "kms" });

const version = { version: optional(1, string, "Version of the protocol.") };
const VersionRequest = message("VersionRequest", "Requests the version.", version);
const VersionResponse = message("VersionResponse", "The version.", version);
const EncryptRequestV1 = message("EncryptRequestV1", "Requests encryption.", {
  ...version,
  plain: optional(2, rawBytes, "The plaintext."),
});
const EncryptResponseV1 = message("EncryptResponseV1", "The result.", {
  cipher: optional(1, rawBytes, "The result."),
});
const DecryptRequestV1 = message("DecryptRequestV1", "Requests decryption.", {
  ...version,
  cipher: optional(2, rawBytes, "The ciphertext."),
});
const DecryptResponseV1 = message("DecryptResponseV1", "The result.", {
  plain: optional(1, rawBytes, "The result."),
});

/** An entry of a map, in its wire form. */
const Annotation = message("Annotation", "An annotation of the key service.", {
  key: optional(1, string, "Name."),
  value: optional(2, rawBytes, "Value."),
});
export type KmsAnnotation = TypeOf<typeof Annotation>;

const StatusRequest = message("StatusRequest", "Requests the status of the service.", {});
const StatusResponse = message("StatusResponse", "The status of the service.", {
  version: optional(1, string, "Version of the protocol."),
  healthz: optional(2, string, "ok, or a description of the problem."),
  keyId: optional(3, string, "The key in use."),
});
const EncryptRequest = message("EncryptRequest", "Requests encryption.", {
  plaintext: optional(1, rawBytes, "The plaintext."),
  uid: optional(2, string, "Identifies the request in logs."),
});
const EncryptResponse = message("EncryptResponse", "The result.", {
  ciphertext: optional(1, rawBytes, "The result."),
  keyId: optional(2, string, "The key that was used."),
  annotations: optional(3, list(Annotation), "To be passed back for decryption."),
});
export type KmsEncryptResponse = TypeOf<typeof EncryptResponse>;
const DecryptRequest = message("DecryptRequest", "Requests decryption.", {
  ciphertext: optional(1, rawBytes, "The ciphertext."),
  uid: optional(2, string, "Identifies the request in logs."),
  keyId: optional(3, string, "The key that was used."),
  annotations: optional(4, list(Annotation), "The annotations returned by the encryption."),
});
const DecryptResponse = message("DecryptResponse", "The result.", {
  plaintext: optional(1, rawBytes, "The result."),
});

/** A value in the store: encrypted with a data key, which the service encrypted. */
const EncryptedObject = message("EncryptedObject", "An encrypted value.", {
  encryptedData: optional(1, rawBytes, "The value."),
  keyId: optional(2, string, "The key that encrypted the data key."),
  encryptedDataKey: optional(3, rawBytes, "The data key."),
  annotations: optional(4, list(Annotation), "The annotations of the service."),
});
export type EncryptedObject = TypeOf<typeof EncryptedObject>;
export const encryptedObject = protobufCodec(EncryptedObject, { style: "proto3" });

const method = <Q extends Message, R extends Message>(
  path: string,
  request: Q,
  response: R,
): GrpcMethod<TypeOf<Q>, TypeOf<R>> => {
  const [encoder, decoder] = [
    protobufCodec(request, { style: "proto3" }),
    protobufCodec(response, { style: "proto3" }),
  ];
  return { path, encode: (value) => encoder.encode(value), decode: (bytes) => decoder.decode(bytes) };
};

export const v1Calls = {
  version: method("/v1beta1.KeyManagementService/Version", VersionRequest, VersionResponse),
  encrypt: method("/v1beta1.KeyManagementService/Encrypt", EncryptRequestV1, EncryptResponseV1),
  decrypt: method("/v1beta1.KeyManagementService/Decrypt", DecryptRequestV1, DecryptResponseV1),
};
export const v2Calls = {
  status: method("/v2.KeyManagementService/Status", StatusRequest, StatusResponse),
  encrypt: method("/v2.KeyManagementService/Encrypt", EncryptRequest, EncryptResponse),
  decrypt: method("/v2.KeyManagementService/Decrypt", DecryptRequest, DecryptResponse),
};
