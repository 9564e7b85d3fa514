// The host name and domain name of a pod.
import type { Pod } from "#api";
import { isHostNetwork, nameOf, namespaceOf } from "../pod.ts";

const maxHostnameLength = 63;
const maxKernelHostnameLength = 64;

/** Returns the host name and, for a pod with a subdomain, its domain within the cluster domain. */
export function podHostname(
  pod: Pod,
  clusterDomain: string,
): { readonly hostname: string; readonly domain: string } {
  const { hostname, subdomain } = pod.spec;
  return {
    hostname: hostname || shortened(nameOf(pod)),
    domain: subdomain ? `${subdomain}.${namespaceOf(pod)}.svc.${clusterDomain}` : "",
  };
}

/** Returns the host name of the sandbox; empty on the host network, where the node's name applies. */
export function sandboxHostname(pod: Pod, clusterDomain: string): string {
  if (isHostNetwork(pod)) return "";
  const { hostname, domain } = podHostname(pod, clusterDomain);
  if (!pod.spec.setHostnameAsFQDN || !domain) return hostname;
  const full = `${hostname}.${domain}`;
  if (full.length > maxKernelHostnameLength) {
    throw new Error(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (${maxKernelHostnameLength} characters is the max, ${full.length} characters requested)`,
    );
  }
  return full;
}

/** Truncates a name to the maximum length of a host name; the result does not end in a hyphen or a dot. */
const shortened = (name: string): string =>
  name.length <= maxHostnameLength ? name : name.slice(0, maxHostnameLength).replace(/[-.]+$/, "");
