// Certificate signing requests: the server records the requesting user; approval and signing are separate
// subresources.
import { X509Certificate } from "node:crypto";
import { CertificateSigningRequest, type CertificateSigningRequestCondition } from "#api";
import {
  type FieldError,
  LiteralValue,
  duplicate,
  forbiddenField,
  goBytes,
  invalidValue,
  required,
} from "#base";
import { timestamp } from "../request.ts";
import { type RequestContext, strategy } from "../strategy.ts";
import { span } from "./cells/age.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { chainProblem, requestProblem } from "./rules/certificate-request.ts";
import { conditionStatuses } from "./rules/conditions.ts";
import { oneOf, supported } from "./rules/one-of.ts";
import { repeats } from "./rules/repeats.ts";
import { signerErrors } from "./rules/signer-name.ts";
import { same } from "./rules/unchanged.ts";

type Request = CertificateSigningRequest;
type Condition = CertificateSigningRequestCondition;

// prettier-ignore
const usages = ["any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"];
const shortest = 600;

const decoded = (text: string | null | undefined): string => Buffer.from(text ?? "", "base64").toString();

function errorsOf(request: Request, old: Request | undefined, { dialect }: RequestContext): FieldError[] {
  const { spec, status } = request;
  const problem = requestProblem(decoded(spec.request));
  const shown = goBytes(spec.request ? Buffer.from(spec.request, "base64") : undefined);
  const errors = problem ? [invalidValue("spec.request", new LiteralValue(shown), problem)] : [];
  const given = spec.usages ?? [];
  if (given.length === 0) errors.push(required("spec.usages"));
  const repeated = repeats<string>();
  given.forEach((usage, position) => {
    errors.push(...supported(usage, `spec.usages[${position}]`, usages));
    if (repeated(usage)) errors.push(duplicate(`spec.usages[${position}]`, usage));
  });
  const legacy = dialect.names.signers.legacyUnknown;
  if (spec.signerName === legacy && old?.spec.signerName !== legacy)
    errors.push(
      invalidValue(
        "spec.signerName",
        spec.signerName,
        "the legacy signerName is not allowed via this API version",
      ),
    );
  else errors.push(...signerErrors(spec.signerName, "spec.signerName"));
  const seconds = spec.expirationSeconds;
  if (seconds !== undefined && seconds < shortest)
    errors.push(
      invalidValue(
        "spec.expirationSeconds",
        seconds,
        `may not specify a duration less than ${shortest} seconds (${shortest / 60} minutes)`,
      ),
    );
  errors.push(...conditionErrors(status.conditions ?? []));
  if (!status.certificate || status.certificate === old?.status.certificate) return errors;
  const wrong = chainProblem(decoded(status.certificate));
  return wrong ? [...errors, invalidValue("status.certificate", "<certificate data>", wrong)] : errors;
}

/**
 * Reports whether a certificate has the requested duration. Signers backdate certificates by up to five
 * minutes, and may deviate by five percent.
 */
function honored(certificate: string, seconds: number): boolean {
  const { validFromDate, validToDate } = new X509Certificate(decoded(certificate));
  const got = (validToDate.getTime() - validFromDate.getTime()) / 1000;
  return Math.abs(seconds - got) < 5 * 60 + seconds / 20;
}

const verdicts = ["Approved", "Denied"];
const finals = [...verdicts, "Failed"];

function conditionErrors(conditions: readonly Condition[]): FieldError[] {
  const seen = new Set<string>();
  return conditions.flatMap(({ type, status }, position) => {
    const at = `status.conditions[${position}]`;
    const errors = type ? [] : [required(`${at}.type`)];
    errors.push(...oneOf(status, `${at}.status`, finals.includes(type) ? ["True"] : conditionStatuses));
    const other = verdicts.find((verdict) => verdict !== type);
    if (verdicts.includes(type) && seen.has(other!))
      errors.push(invalidValue(`${at}.type`, type, "Approved and Denied conditions are mutually exclusive"));
    if (seen.has(type)) errors.push(duplicate(`${at}.type`, type));
    seen.add(type);
    return errors;
  });
}

const ofType = ({ status }: Request, type: string): Condition[] =>
  (status.conditions ?? []).filter((condition) => condition.type === type);

/** Validates that final conditions are not removed, and that only approvers and signers add theirs. */
function changeErrors(
  request: Request,
  old: Request,
  may: { readonly approve?: boolean; readonly sign?: boolean },
): FieldError[] {
  const field = "status.conditions";
  const errors = finals
    .filter((type) => ofType(request, type).length < ofType(old, type).length)
    .map((type) => forbiddenField(field, `updates may not remove a condition of type "${type}"`));
  for (const type of may.approve ? [] : verdicts) {
    const [now, before] = [ofType(request, type), ofType(old, type)];
    if (now.length > before.length)
      errors.push(forbiddenField(field, `updates may not add a condition of type "${type}"`));
    else if (now.length === before.length && !same(now, before))
      errors.push(forbiddenField(field, `updates may not modify a condition of type "${type}"`));
  }
  if ((request.status.certificate ?? "") === (old.status.certificate ?? "")) return errors;
  if (!may.sign)
    return [...errors, forbiddenField("status.certificate", "updates may not set certificate content")];
  return old.status.certificate
    ? [...errors, forbiddenField("status.certificate", "updates may not modify existing certificate content")]
    : errors;
}

/** Sets missing timestamps of conditions to the current time, or to that of the same condition before. */
function timed(
  conditions: readonly Condition[] | undefined,
  old: Request,
  now: Date,
): Condition[] | undefined {
  const known = new Map(
    (old.status.conditions ?? [])
      .toReversed()
      .flatMap((each) => (each.lastTransitionTime ? [[stateOf(each), each]] : [])),
  );
  return conditions?.map((condition) => {
    const before = known.get(stateOf(condition));
    const present = timestamp(now);
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? present,
      lastTransitionTime: condition.lastTransitionTime ?? before?.lastTransitionTime ?? present,
    };
  });
}

const stateOf = ({ type, status }: Condition): string => JSON.stringify([type, status]);

function withConditions(status: Request["status"], conditions: Condition[] | undefined): Request["status"] {
  const { conditions: _dropped, ...rest } = status;
  return conditions ? { ...rest, conditions } : rest;
}

/** Restores the approval conditions among those that the signer sends. */
function keepVerdicts(sent: readonly Condition[] | undefined, old: Request): Condition[] | undefined {
  let conditions = sent && [...sent];
  for (const type of verdicts) {
    const before = ofType(old, type);
    if (!conditions || conditions.filter((condition) => condition.type === type).length !== before.length)
      continue;
    let next = 0;
    conditions = conditions.map((condition) => (condition.type === type ? before[next++]! : condition));
  }
  return conditions;
}

function conditionText({ status }: Request): string {
  const has = (type: string): boolean =>
    (status.conditions ?? []).some((condition) => condition.type === type);
  const verdict = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  return `${verdict}${has("Failed") ? ",Failed" : ""}${status.certificate ? ",Issued" : ""}`;
}

export const certificateSigningRequest = strategy<Request>({
  resource: "certificatesigningrequests",
  singular: "certificatesigningrequest",
  shortNames: ["csr"],
  scope: "Cluster",
  hub: CertificateSigningRequest,
  metaChecks: { asNew: 1 },
  status: "cleared",
  resets: ["spec", "status"],
  validateName: () => [],
  prepareForCreate: (obj, { identity }) => {
    const { username: _name, uid: _uid, groups: _groups, extra: _extra, ...rest } = obj.spec;
    obj.spec = {
      ...rest,
      username: identity.name,
      ...(identity.uid && { uid: identity.uid }),
      ...(identity.groups.length > 0 && { groups: [...identity.groups] }),
      ...(identity.extra &&
        Object.keys(identity.extra).length > 0 && {
          extra: Object.fromEntries(
            Object.entries(identity.extra).map(([key, values]) => [key, [...values]]),
          ),
        }),
    };
    obj.status = {};
  },
  prepareForUpdate: (obj, old) => {
    obj.spec = old.spec;
  },
  validate: (obj, ctx) => errorsOf(obj, undefined, ctx),
  validateUpdate: (obj, old, ctx) => [...errorsOf(obj, old, ctx), ...changeErrors(obj, old, {})],
  updated: (obj, old, { settings }) => {
    const { spec, status } = old;
    if (spec.expirationSeconds === undefined || status.certificate || !obj.status.certificate) return;
    settings.certificateIssued?.(spec.signerName, honored(obj.status.certificate, spec.expirationSeconds));
  },
  fields: ({ spec }) => ({ "spec.signerName": spec.signerName }),
  subresources: {
    status: {
      merge: (sent, old, { now }) => ({
        ...old,
        metadata: sent.metadata,
        status: withConditions(sent.status, timed(keepVerdicts(sent.status.conditions, old), old, now)),
      }),
      validate: (obj, old, ctx) => [...errorsOf(obj, old, ctx), ...changeErrors(obj, old, { sign: true })],
      resets: ["spec", "status.conditions"],
      metaChecks: { asNew: 1 },
    },
    approval: {
      untabled: true,
      merge: (sent, old, { now }) => ({
        ...old,
        metadata: sent.metadata,
        status: withConditions(old.status, timed(sent.status.conditions, old, now)),
      }),
      validate: (obj, old, ctx) => [...errorsOf(obj, old, ctx), ...changeErrors(obj, old, { approve: true })],
      resets: ["spec", "status.certificate"],
      metaChecks: { asNew: 1 },
    },
  },
  columns: [
    nameColumn,
    ageColumn,
    {
      name: "SignerName",
      type: "string",
      doc: "Name of the signer.",
      cell: ({ spec }: Request) => spec.signerName || "<none>",
    },
    {
      name: "Requestor",
      type: "string",
      doc: "User who created the request.",
      cell: ({ spec }: Request) => spec.username ?? "",
    },
    {
      name: "RequestedDuration",
      type: "string",
      doc: "Requested validity of the certificate.",
      cell: ({ spec }: Request) =>
        spec.expirationSeconds === undefined ? "<none>" : span(spec.expirationSeconds),
    },
    { name: "Condition", type: "string", doc: "Conditions of the request.", cell: conditionText },
  ],
});
