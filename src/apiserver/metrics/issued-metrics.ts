// Counts certificates issued to requests with a duration, and those whose validity is close to that duration.
import type { Metrics } from "#base";
import type { Dialect } from "#dialect";
import type { RegistrySettings } from "#registry";

export function issuedMetrics(
  metrics: Metrics,
  dialect: Dialect,
): NonNullable<RegistrySettings["certificateIssued"]> {
  const counter = (name: string, help: string) =>
    metrics.counter({
      name: `apiserver_certificates_registry_${name}`,
      help,
      stability: "ALPHA",
      labels: ["signerName"],
    });
  const requested = counter(
    "csr_requested_duration_total",
    "Number of certificates issued for requests with a duration, by signer; foreign signers count as other.",
  );
  const honored = counter(
    "csr_honored_duration_total",
    "Number of certificates issued with the requested duration, by signer; foreign signers count as other.",
  );
  // Signer names are chosen by users and would make unbounded label values.
  const own = dialect.names.signers.legacyUnknown.replace(/[^/]*$/, "");
  return (signerName, isHonored) => {
    const label = signerName.startsWith(own) ? signerName : "other";
    requested.with(label).add();
    if (isHonored) honored.with(label).add();
  };
}
