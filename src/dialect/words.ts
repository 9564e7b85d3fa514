// Derives a dialect from a few words.

import type { Dialect, DialectName, Spelling } from "./dialect.ts";
import { wellKnownNames } from "./well-known.ts";

export interface Words {
  readonly name: DialectName;
  readonly product: string;
  readonly Product: string;
  /** Suffix of branded API groups. */
  readonly groupSuffix: string;
  /** Domain of labels, annotations, taints and finalizers. */
  readonly labelDomain: string;
  readonly componentPrefix: string;
  readonly agent: string;
  readonly podsCgroup: string;
  readonly clientConfigFlag: string;
  readonly storeSpan: string;
  readonly spelling: Spelling;
}

export function dialectFrom(words: Words): Dialect {
  const { product, labelDomain, groupSuffix, componentPrefix, agent } = words;
  const upper = product.toUpperCase();
  return {
    name: words.name,
    wire: {
      groupSuffix,
      protobufMediaType: `application/vnd.${product}.protobuf`,
      protobufMagic: Uint8Array.of(0x6b, 0x38, 0x73, 0x00),
      extensionPrefix: `x-${product}-`,
      schemaPrefix: groupSuffix.split(".").toReversed().join("."),
      headerPrefix: `X-${words.Product}-`,
      aggregatorPackage: `${componentPrefix}aggregator`,
      flowSchemaHeader: `X-${words.Product}-PF-FlowSchema-UID`,
      priorityLevelHeader: `X-${words.Product}-PF-PriorityLevel-UID`,
      storeHealthCheck: words.spelling.flag("store-servers").split("-", 1)[0]!,
      storeSpan: words.storeSpan,
      serverSpan: `${words.Product}API`,
      apiTitle: words.Product,
      discoveryGroup: "apidiscovery.k8s.io",
      clientExtensionPrefix: "x-kubernetes-",
      clientProtobufMediaType: "application/vnd.kubernetes.protobuf",
      clientMetaGroup: "meta.k8s.io",
      clientStoreHealthCheck: "etcd",
    },
    data: {
      labelDomain,
      systemNamespace: `${componentPrefix}system`,
      publicNamespace: `${componentPrefix}public`,
      nodeLeaseNamespace: `${componentPrefix}node-lease`,
      apiService: product,
      componentPrefix,
      namespaceFinalizer: product,
      tokenClaim: labelDomain,
      environmentPrefix: `${upper}_`,
      runtimeLabelPrefix: `io.${product}.`,
      podsCgroup: words.podsCgroup,
      metricPrefix: `${product}_`,
      agentMetricPrefix: `${agent}_`,
    },
    cli: {
      product,
      apiServer: `${componentPrefix}apiserver`,
      agent,
      clientConfigFlag: words.clientConfigFlag,
      clientConfigVariable: words.clientConfigFlag.toUpperCase(),
    },
    paths: {
      servingCertificates: `/var/run/${product}`,
      agentRoot: `/var/lib/${agent}`,
      agentCertificates: `/var/lib/${agent}/pki`,
      agentVolumePlugins: `/usr/libexec/${product}/${agent}-plugins/volume/exec/`,
      devicePlugins: `/var/lib/${agent}/device-plugins`,
      agentConfigFile: `/var/lib/${agent}/config.yaml`,
      staticPods: `/etc/${product}/manifests`,
      configDirectory: `/etc/${product}`,
      serviceAccountMount: `/var/run/secrets/${labelDomain}/serviceaccount`,
    },
    names: wellKnownNames(words),
    spelling: words.spelling,
  };
}
