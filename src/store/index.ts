export {
  type Batch,
  type Change,
  Compacted,
  type DerivedData,
  type Entry,
  FutureRevision,
  type BufferCallback,
  type LocalValues,
  type Outcome,
  type Page,
  type Reservation,
  type Range,
  type Revision,
  type Store,
  type StoreStatus,
  type Versions,
  type Write,
} from "./store.ts";
export {
  DecryptionFailed,
  KeyServiceFailed,
  StoreBusy,
  StoreClosed,
  StoreDamaged,
  StoreFailed,
  StoreFull,
  StoreLocked,
} from "./errors.ts";
export { type MemoryOptions, MemoryStore, openMemory } from "./memory/memory.ts";
export { type LeaseReuse, leaseReuse } from "./leases.ts";
export { type EtcdUnreachable, unreachableStore } from "./etcd/calls.ts";
export { type EtcdOptions, EtcdStore, openEtcd } from "./etcd/etcd.ts";
export { type SqliteOptions, openSqlite } from "./sqlite/sqlite.ts";
export { lockStore } from "./sqlite/lock.ts";
export { backupStore, restoreStore } from "./sqlite/backup.ts";
export { type ResourceSpace, type StoreSpace, storeSpace } from "./sqlite/stats.ts";
export { encrypted, type EncryptionOptions, type EncryptionProvider, identity } from "./encrypted.ts";
export { compactPeriodically, type CompactorOptions } from "./compactor.ts";
export { openStore, type StoreChoice } from "./open.ts";
export { type DataKeyObserver, type KmsProvider } from "./encryption/kms.ts";
export { kmsV1 } from "./encryption/kms-v1.ts";
export { kmsV2 } from "./encryption/kms-v2.ts";
export type { KeyServiceObserver } from "./encryption/kms.ts";
export { type TransformationObserver, measuredProvider } from "./encryption/measured-provider.ts";
export { aesGcm } from "./encryption/aes-gcm.ts";
export { secretbox } from "./encryption/secretbox.ts";
export { aesCbc } from "./encryption/aes-cbc.ts";
export { type EncryptionCount, surveyEncryption } from "./encryption/survey.ts";
