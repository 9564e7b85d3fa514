// The names a pod has for itself.
import type { Pod } from "#api";
import { isHostNetwork, nameOf, namespaceOf } from "../pod.ts";

const longestHostname = 63;
const longestKernelHostname = 64;

/** The host name and, for a pod with a subdomain, the domain below the cluster's. */
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

/** What the sandbox's kernel is told; empty on the node's network, where the node's name holds. */
export function sandboxHostname(pod: Pod, clusterDomain: string): string {
  if (isHostNetwork(pod)) return "";
  const { hostname, domain } = podHostname(pod, clusterDomain);
  if (!pod.spec.setHostnameAsFQDN || !domain) return hostname;
  const full = `${hostname}.${domain}`;
  if (full.length > longestKernelHostname) {
    throw new Error(
      `failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (${longestKernelHostname} characters is the max, ${full.length} characters requested)`,
    );
  }
  return full;
}

/** A name cut to what a host name may be; it does not end in a hyphen or a dot. */
const shortened = (name: string): string =>
  name.length <= longestHostname ? name : name.slice(0, longestHostname).replace(/[-.]+$/, "");
