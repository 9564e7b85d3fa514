// Custom resource definitions of certificate, gateway, mesh and monitoring projects, after their docs.
import type { Described } from "./notation.fixture.ts";

export const ref = "(name!:string namespace:string kind:string group:string)";
export const conditions = `conditions:[type:(type!:string status!:True|False|Unknown reason:string
      message:string
  lastTransitionTime:date-time observedGeneration:int)]`;
export const selector = `(matchLabels:{string} matchExpressions:[(key!:string
  operator!:In|NotIn|Exists|DoesNotExist values:[string])])`;
export const resources = "(limits:{quantity} requests:{quantity})";
export const ready = "Ready=.status.conditions[?(@.type=='Ready')].status";
const secretKey = "(name!:string key:string optional:bool)";

const issuer = `acme:(server!:string email:string privateKeySecretRef!:${secretKey} preferredChain:string
    skipTLSVerify:bool solvers:[(selector:(matchLabels:{string} dnsNames:[string] dnsZones:[string])
      http01:(ingress:(class:string serviceType:string) gatewayHTTPRoute:(labels:{string}))
      dns01:(cloudflare:(email:string apiTokenSecretRef:${secretKey}) route53:(region!:string
      hostedZoneID:string)))])
  ca:(secretName!:string crlDistributionPoints:[string]) selfSigned:(crlDistributionPoints:[string])
  vault:(server!:string path!:string caBundle:string auth:(tokenSecretRef:${secretKey}))`;
const certManager = { group: "cert-manager.example.org", version: "v1" };
const gateway = { group: "gateway.networking.example.org", version: "v1" };
const parentRefs = `parentRefs:[(group:string=gateway.networking.example.org kind:string=Gateway
      namespace:string
  name!:string sectionName:string port:int)]`;
const backendRefs = `backendRefs:[(group:string= kind:string=Service name!:string namespace:string port:int
  weight:int=1)]`;
const routeStatus = `parents:[(parentRef!:${ref} controllerName!:string ${conditions})]`;
const istio = { group: "networking.istio.example.io", version: "v1beta1" };
const istioSecurity = { group: "security.istio.example.io", version: "v1beta1" };
const monitoring = { group: "monitoring.coreos.example.com", version: "v1" };
const endpoint = `(port:string targetPort:quantity path:string scheme:http|https params:{[string]}
      interval:string
  scrapeTimeout:string honorLabels:bool metricRelabelings:[(sourceLabels:[string] separator:string
    targetLabel:string regex:string modulus:int replacement:string
      action:replace|keep|drop|hashmod=replace)])`;
const prometheusLike = `replicas:int image:string version:string paused:bool retention:string
  serviceAccountName:string externalLabels:{string} resources:${resources} nodeSelector:{string}
  serviceMonitorSelector:${selector} podMonitorSelector:${selector} ruleSelector:${selector}
  storage:(volumeClaimTemplate:(metadata:any spec:any)) securityContext:any affinity:any tolerations:[any]
  containers:[name:(name!:string image:string args:[string] env:[any])]`;

export const networkDefinitions: readonly Described[] = [
  {
    ...certManager,
    kind: "Certificate",
    plural: "certificates",
    short: "cert,certs",
    spec: `secretName!:string issuerRef!:${ref} commonName:string dnsNames:[string] ipAddresses:[string]
      uris:[string]
      duration:string renewBefore:string isCA:bool usages:[string] privateKey:(algorithm:RSA|ECDSA|Ed25519
      encoding:PKCS1|PKCS8 rotationPolicy:Never|Always size:int) keystores:(jks:(create!:bool
      passwordSecretRef!:${secretKey}) pkcs12:(create!:bool passwordSecretRef!:${secretKey}))
      secretTemplate:(annotations:{string} labels:{string}) revisionHistoryLimit:int`,
    status: `${conditions} notAfter:date-time notBefore:date-time renewalTime:date-time revision:int`,
    columns: `${ready};Secret=.spec.secretName;Issuer=.spec.issuerRef.name`,
    rules: {
      "spec.privateKey": [
        [
          "!has(self.algorithm) || self.algorithm != 'Ed25519' || !has(self.size)",
          "Ed25519 keys have one size",
        ],
      ],
      "spec.secretName": [["self == oldSelf", "secretName is immutable"]],
    },
    refused: [["spec.privateKey", { algorithm: "Ed25519", size: 256 }, "Ed25519 keys have one size"]],
  },
  {
    ...certManager,
    kind: "Issuer",
    plural: "issuers",
    spec: issuer,
    status: conditions,
    columns: ready,
  },
  {
    ...certManager,
    kind: "ClusterIssuer",
    plural: "clusterissuers",
    cluster: true,
    spec: issuer,
    sample: { spec: { selfSigned: {} } },
    status: conditions,
    columns: ready,
    rules: {
      spec: [
        [
          "[has(self.acme), has(self.ca), has(self.selfSigned), has(self.vault)].exists_one(x, x)",
          "one kind of issuer",
        ],
      ],
    },
    refused: [["spec", {}, "one kind of issuer"]],
  },
  {
    ...certManager,
    kind: "CertificateRequest",
    plural: "certificaterequests",
    short: "cr,crs",
    spec: `request!:string issuerRef!:${ref} duration:string isCA:bool usages:[string] username:string
      groups:[string]`,
    status: `${conditions} certificate:string ca:string failureTime:date-time`,
    rules: { spec: [["self.request == oldSelf.request", "requests do not change"]] },
  },
  {
    ...gateway,
    kind: "GatewayClass",
    plural: "gatewayclasses",
    short: "gc",
    cluster: true,
    spec: `controllerName!:string parametersRef:${ref} description:string`,
    status: conditions,
    rules: { "spec.controllerName": [["self == oldSelf", "Value is immutable"]] },
  },
  {
    ...gateway,
    kind: "Gateway",
    plural: "gateways",
    short: "gtw",
    spec: `gatewayClassName!:string listeners!:[name:(name!:string hostname:string port!:int protocol!:string
      tls:(mode:Terminate|Passthrough=Terminate certificateRefs:[${ref}] options:{string})
      allowedRoutes:(namespaces:(from:All|Selector|Same=Same selector:${selector}) kinds:[(group:string
      kind!:string)]))] addresses:[(type:string=IPAddress value!:string)]`,
    status: `${conditions} addresses:[(type:string value!:string)]
      listeners:[name:(name!:string attachedRoutes!:int ${conditions})]`,
    columns: "Class=.spec.gatewayClassName;Address=.status.addresses[*].value",
    rules: {
      "spec.listeners": [
        [
          "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)",
          "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
        ],
        ["self.all(l, l.protocol != 'UDP' || !has(l.hostname) || l.hostname == '')", "no hostname for UDP"],
      ],
    },
    refused: [
      [
        "spec.listeners",
        [{ name: "a", port: 80, protocol: "HTTP", tls: {} }],
        "tls must not be specified for protocols",
      ],
    ],
  },
  {
    ...gateway,
    kind: "HTTPRoute",
    plural: "httproutes",
    spec: `${parentRefs} hostnames:[string]
      rules:[(matches:[(path:(type:Exact|PathPrefix|RegularExpression=PathPrefix
      value:string=/) headers:[name:(type:Exact|RegularExpression=Exact name!:string value!:string)]
      method:GET|HEAD|POST|PUT|DELETE|PATCH)] filters:[(type!:RequestHeaderModifier|RequestRedirect|URLRewrite
      requestRedirect:(scheme:http|https hostname:string port:int statusCode:int=302)
      requestHeaderModifier:(set:[name:(name!:string value!:string)] remove:[string]))] ${backendRefs}
      timeouts:(request:string backendRequest:string))]`,
    sample: { "spec.rules.0.filters": [{ type: "RequestRedirect", requestRedirect: { statusCode: 302 } }] },
    status: routeStatus,
    columns: "Hostnames=.spec.hostnames",
    rules: {
      "spec.rules.items.filters.items": [
        [
          "self.type == 'RequestRedirect' ? has(self.requestRedirect) : !has(self.requestRedirect)",
          "filter.requestRedirect must be specified for RequestRedirect filter.type",
        ],
      ],
    },
    refused: [
      ["spec.rules", [{ filters: [{ type: "RequestRedirect" }] }], "must be specified for RequestRedirect"],
    ],
  },
  {
    ...gateway,
    kind: "GRPCRoute",
    plural: "grpcroutes",
    spec: `${parentRefs} hostnames:[string] rules:[(matches:[(method:(type:Exact|RegularExpression=Exact
      service:string method:string))] ${backendRefs})]`,
    status: routeStatus,
  },
  {
    ...gateway,
    kind: "TLSRoute",
    plural: "tlsroutes",
    version: "v1alpha2",
    spec: `${parentRefs} hostnames:[string] rules!:[(${backendRefs})]`,
    status: routeStatus,
  },
  {
    ...gateway,
    kind: "ReferenceGrant",
    plural: "referencegrants",
    version: "v1beta1",
    spec: `from!:[(group!:string kind!:string namespace!:string)] to!:[(group!:string kind!:string
      name:string)]`,
    rules: { "spec.from": [["size(self) >= 1 && size(self) <= 16", "between 1 and 16 sources"]] },
    refused: [["spec.from", [], "between 1 and 16 sources"]],
  },
  {
    ...istio,
    kind: "VirtualService",
    plural: "virtualservices",
    short: "vs",
    spec: `hosts:[string] gateways:[string] exportTo:[string] http:[(name:string match:[(uri:any headers:{any}
      port:int sourceLabels:{string})] route:[(destination!:(host!:string subset:string port:(number:int))
      weight:int headers:any)] redirect:(uri:string authority:string redirectCode:int)
      rewrite:(uri:string authority:string) timeout:string retries:(attempts:int perTryTimeout:string
      retryOn:string) fault:any corsPolicy:any mirror:any)] tcp:[any] tls:[any]`,
    status: "conditions:[any] observedGeneration:quantity",
    columns: "Gateways=.spec.gateways;Hosts=.spec.hosts",
  },
  {
    ...istio,
    kind: "DestinationRule",
    plural: "destinationrules",
    short: "dr",
    spec: `host!:string exportTo:[string] trafficPolicy:(loadBalancer:(simple:RANDOM|PASSTHROUGH|ROUND_ROBIN
      consistentHash:any) connectionPool:any outlierDetection:any tls:(mode:DISABLE|SIMPLE|MUTUAL sni:string))
      subsets:[(name!:string labels:{string} trafficPolicy:any)] workloadSelector:(matchLabels:{string})`,
    status: "conditions:[any]",
    columns: "Host=.spec.host",
  },
  {
    ...istio,
    kind: "ServiceEntry",
    plural: "serviceentries",
    short: "se",
    spec: `hosts!:[string] addresses:[string] ports:[number:(number!:int name!:string protocol:string
      targetPort:int)]
      location:MESH_EXTERNAL|MESH_INTERNAL resolution:NONE|STATIC|DNS endpoints:[(address:string ports:{int}
      labels:{string} weight:int)]`,
    rules: {
      "spec.hosts": [["self.all(h, !h.startsWith('*.') || size(h) > 3)", "a wildcard needs a domain"]],
    },
    refused: [["spec.hosts", ["*.x"], "a wildcard needs a domain"]],
  },
  {
    ...istio,
    kind: "Sidecar",
    plural: "sidecars",
    spec: `workloadSelector:(labels:{string}) ingress:[(port!:(number:int protocol:string name:string)
      bind:string
      defaultEndpoint:string)] egress:[(hosts!:[string] bind:string)]
      outboundTrafficPolicy:(mode:REGISTRY_ONLY|ALLOW_ANY)`,
  },
  {
    ...istioSecurity,
    kind: "AuthorizationPolicy",
    plural: "authorizationpolicies",
    spec: `action:ALLOW|DENY|AUDIT|CUSTOM selector:(matchLabels:{string}) provider:(name:string)
      rules:[(from:[(source:(principals:[string] namespaces:[string] ipBlocks:[string]))]
      to:[(operation:(hosts:[string] ports:[string] methods:[string] paths:[string]))]
      when:[(key!:string values:[string] notValues:[string])])]`,
    columns: "Action=.spec.action",
    rules: {
      spec: [
        ["!has(self.action) || self.action != 'CUSTOM' || has(self.provider)", "CUSTOM needs a provider"],
      ],
    },
    refused: [["spec", { action: "CUSTOM" }, "CUSTOM needs a provider"]],
  },
  {
    ...istioSecurity,
    kind: "PeerAuthentication",
    plural: "peerauthentications",
    short: "pa",
    spec: `selector:(matchLabels:{string}) mtls:(mode:UNSET|DISABLE|PERMISSIVE|STRICT)
      portLevelMtls:{(mode:UNSET|DISABLE|PERMISSIVE|STRICT)}`,
    columns: "Mode=.spec.mtls.mode",
  },
  {
    ...monitoring,
    kind: "ServiceMonitor",
    plural: "servicemonitors",
    short: "smon",
    spec: `selector!:${selector} namespaceSelector:(any:bool matchNames:[string]) endpoints!:[${endpoint}]
      jobLabel:string targetLabels:[string] sampleLimit:int`,
  },
  {
    ...monitoring,
    kind: "PodMonitor",
    plural: "podmonitors",
    short: "pmon",
    spec: `selector!:${selector} namespaceSelector:(any:bool matchNames:[string])
      podMetricsEndpoints!:[${endpoint}] jobLabel:string`,
  },
  {
    ...monitoring,
    kind: "PrometheusRule",
    plural: "prometheusrules",
    short: "promrule",
    spec: `groups:[name:(name!:string interval:string rules:[(record:string alert:string expr!:quantity
      for:string
      labels:{string} annotations:{string})])]`,
    sample: { "spec.groups.0.rules.0.record": undefined },
    rules: {
      "spec.groups.items.rules.items": [["has(self.record) != has(self.alert)", "a rule records or alerts"]],
    },
    refused: [["spec.groups", [{ name: "a", rules: [{ expr: "up" }] }], "a rule records or alerts"]],
  },
  {
    ...monitoring,
    kind: "Prometheus",
    plural: "prometheuses",
    short: "prom",
    scale: true,
    spec: prometheusLike,
    status: `replicas:int selector:string updatedReplicas:int availableReplicas:int ${conditions}`,
    columns: "Version=.spec.version;Desired=.spec.replicas",
  },
  {
    ...monitoring,
    kind: "Alertmanager",
    plural: "alertmanagers",
    short: "am",
    spec: `${prometheusLike} clusterPushpullInterval:string configSecret:string`,
    status: `replicas:int ${conditions}`,
  },
];
