// Custom resource definitions of delivery, pipeline, cluster and data projects, after their docs.
import { conditions, ready, ref, resources, selector } from "./network-definitions.fixture.ts";
import type { Described } from "./notation.fixture.ts";

const crossplane = { group: "apiextensions.crossplane.example.io", version: "v1", cluster: true };
const argo = { group: "argoproj.example.io", version: "v1alpha1" };
const source = `(repoURL!:string path:string targetRevision:string chart:string helm:(valueFiles:[string]
  releaseName:string values:string parameters:[(name:string value:string forceString:bool)])
  kustomize:(namePrefix:string images:[string] commonLabels:{string}) directory:(recurse:bool
      include:string))`;
const syncPolicy = `(automated:(prune:bool selfHeal:bool allowEmpty:bool) syncOptions:[string]
  retry:(limit:int backoff:(duration:string factor:int maxDuration:string)))`;
const knative = { group: "serving.knative.example.dev", version: "v1" };
const tekton = { group: "tekton.example.dev", version: "v1" };
const params = "params:[(name!:string type:string|array|object description:string default:any value:any)]";
const workspaces = `workspaces:[(name!:string description:string optional:bool mountPath:string
      readOnly:bool)]`;
const cluster = { group: "cluster.x-example.io", version: "v1beta1" };
const machine = `clusterName!:string bootstrap:(configRef:${ref} dataSecretName:string)
      infrastructureRef!:${ref}
  version:string providerID:string failureDomain:string nodeDrainTimeout:string`;
const kafka = { group: "kafka.strimzi.example.io", version: "v1beta2" };

export const deliveryDefinitions: readonly Described[] = [
  {
    ...crossplane,
    kind: "CompositeResourceDefinition",
    plural: "compositeresourcedefinitions",
    short: "xrd",
    spec: `group!:string names!:(plural!:string kind!:string singular:string listKind:string)
      claimNames:(plural!:string kind!:string) connectionSecretKeys:[string]
      defaultCompositionRef:(name!:string)
      versions!:[name:(name!:string served!:bool referenceable!:bool schema:(openAPIV3Schema:any))]`,
    status: conditions,
    rules: { "spec.group": [["self == oldSelf", "Value is immutable"]] },
  },
  {
    ...crossplane,
    kind: "Composition",
    plural: "compositions",
    short: "comp",
    spec: `compositeTypeRef!:(apiVersion!:string kind!:string) mode:Resources|Pipeline=Resources
      pipeline:[step:(step!:string functionRef!:(name!:string) input:any)] resources:[(name:string base!:any
      patches:[(type:FromCompositeFieldPath|ToCompositeFieldPath=FromCompositeFieldPath fromFieldPath:string
      toFieldPath:string transforms:[any])])] writeConnectionSecretsToNamespace:string`,
    sample: { "spec.pipeline": undefined },
    rules: {
      spec: [["self.mode != 'Pipeline' || has(self.pipeline)", "Pipeline mode needs pipeline steps"]],
    },
    refused: [["spec.mode", "Pipeline", "Pipeline mode needs pipeline steps"]],
  },
  {
    group: "pkg.crossplane.example.io",
    version: "v1",
    cluster: true,
    kind: "Provider",
    plural: "providers",
    spec: `package!:string packagePullPolicy:IfNotPresent|Always|Never=IfNotPresent
      revisionActivationPolicy:string=Automatic revisionHistoryLimit:int=1
      skipDependencyResolution:bool=false`,
    status: `currentRevision:string ${conditions}`,
    columns: "Package=.spec.package",
  },
  {
    ...argo,
    kind: "Application",
    plural: "applications",
    short: "app,apps",
    spec: `project!:string source:${source} sources:[${source}] destination!:(server:string namespace:string
      name:string) syncPolicy:${syncPolicy} ignoreDifferences:[(group:string kind!:string name:string
      jsonPointers:[string])] revisionHistoryLimit:int`,
    status: `sync:(status:Synced|OutOfSync|Unknown revision:string) health:(status:string message:string)
      operationState:any history:[any] resources:[any]`,
    columns: "Sync Status=.status.sync.status;Health Status=.status.health.status",
    rules: { spec: [["has(self.source) || has(self.sources)", "an application has a source"]] },
    refused: [["spec", { project: "p", destination: {} }, "an application has a source"]],
  },
  {
    ...argo,
    kind: "AppProject",
    plural: "appprojects",
    short: "appproj",
    spec: `description:string sourceRepos:[string] destinations:[(server:string namespace:string name:string)]
      clusterResourceWhitelist:[(group!:string kind!:string)] roles:[(name!:string description:string
      policies:[string] groups:[string])] syncWindows:[(kind:string schedule:string duration:string)]`,
  },
  {
    ...argo,
    kind: "Workflow",
    plural: "workflows",
    short: "wf",
    spec: `entrypoint:string serviceAccountName:string arguments:(parameters:[(name!:string value:quantity)])
      templates:[(name:string container:any script:any steps:[any] dag:(tasks!:[(name!:string template:string
      dependencies:[string] arguments:any)]) inputs:any outputs:any)] ttlStrategy:(secondsAfterCompletion:int)
      podGC:(strategy:string) suspend:bool`,
    status: "phase:string startedAt:date-time finishedAt:date-time nodes:{any} progress:string",
    columns: "Status=.status.phase",
  },
  {
    ...argo,
    kind: "Rollout",
    plural: "rollouts",
    short: "ro",
    scale: true,
    spec: `replicas:int selector:${selector} template:any revisionHistoryLimit:int paused:bool
      strategy:(canary:(steps:[(setWeight:int pause:(duration:quantity) setCanaryScale:(weight:int
      replicas:int))]
      canaryService:string stableService:string maxSurge:quantity maxUnavailable:quantity)
      blueGreen:(activeService!:string previewService:string autoPromotionEnabled:bool))`,
    sample: { "spec.strategy.blueGreen": undefined },
    status: `replicas:int selector:string readyReplicas:int phase:string ${conditions}`,
    rules: { "spec.strategy": [["has(self.canary) != has(self.blueGreen)", "canary or blueGreen"]] },
    refused: [["spec.strategy", {}, "canary or blueGreen"]],
  },
  {
    group: "source.toolkit.fluxcd.example.io",
    version: "v1",
    kind: "GitRepository",
    plural: "gitrepositories",
    short: "gitrepo",
    spec: `url!:string ref:(branch:string tag:string semver:string commit:string) interval!:string
      timeout:string=60s secretRef:(name!:string) suspend:bool ignore:string recurseSubmodules:bool
      include:[(repository!:(name!:string) fromPath:string toPath:string)]`,
    sample: { "spec.url": "https://git.example.com/a" },
    status: `${conditions} artifact:(path:string url:string revision:string lastUpdateTime:date-time)`,
    columns: `URL=.spec.url;${ready}`,
    rules: {
      "spec.url": [["['http', 'https', 'ssh'].exists(s, self.startsWith(s + '://'))", "http, https or ssh"]],
    },
    refused: [["spec.url", "ftp://x", "http, https or ssh"]],
  },
  {
    group: "kustomize.toolkit.fluxcd.example.io",
    version: "v1",
    kind: "Kustomization",
    plural: "kustomizations",
    short: "ks",
    spec: `interval!:string path:string prune!:bool sourceRef!:(kind!:GitRepository|Bucket|OCIRepository
      name!:string
      namespace:string) dependsOn:[(name!:string namespace:string)] targetNamespace:string
      postBuild:(substitute:{string} substituteFrom:[(kind!:Secret|ConfigMap name!:string
      optional:bool=false)])
      healthChecks:[(kind!:string name!:string namespace:string)] patches:[(patch!:string target:any)]
      wait:bool`,
    status: `${conditions} lastAppliedRevision:string inventory:(entries!:[(id!:string v!:string)])`,
  },
  {
    group: "helm.toolkit.fluxcd.example.io",
    version: "v2",
    kind: "HelmRelease",
    plural: "helmreleases",
    short: "hr",
    spec: `interval!:string chart:(spec!:(chart!:string version:string=*
      sourceRef!:(kind:HelmRepository|GitRepository
      name!:string namespace:string) valuesFiles:[string])) releaseName:string targetNamespace:string
      values:any
      valuesFrom:[(kind!:Secret|ConfigMap name!:string valuesKey:string targetPath:string optional:bool)]
      install:(crds:Skip|Create|CreateReplace remediation:(retries:int)) upgrade:(force:bool)`,
    status: `${conditions} lastAppliedRevision:string failures:int`,
  },
  {
    ...knative,
    kind: "Service",
    plural: "services",
    short: "ksvc,kservice",
    spec: `template:(metadata:any spec:(containerConcurrency:int timeoutSeconds:int serviceAccountName:string
      containers:[(name:string image!:string env:[any] ports:[any] resources:any)]))
      traffic:[(tag:string revisionName:string latestRevision:bool percent:int)]`,
    status: `${conditions} url:string latestReadyRevisionName:string observedGeneration:int`,
    columns: "URL=.status.url",
    rules: {
      "spec.traffic": [["self.all(t, !has(t.percent) || t.percent <= 100)", "a percentage is at most 100"]],
    },
    refused: [["spec.traffic", [{ percent: 130 }], "a percentage is at most 100"]],
  },
  {
    ...knative,
    kind: "Revision",
    plural: "revisions",
    short: "rev",
    spec: "containerConcurrency:int timeoutSeconds:int containers:[(image!:string args:[string])]",
    status: `${conditions} logUrl:string actualReplicas:int desiredReplicas:int`,
  },
  {
    ...tekton,
    kind: "Task",
    plural: "tasks",
    spec: `description:string ${params} ${workspaces} steps:[(name:string image:string command:[string]
      args:[string]
      script:string env:[any] onError:string)] results:[(name!:string type:string description:string)]
      volumes:[any] stepTemplate:any`,
  },
  {
    ...tekton,
    kind: "Pipeline",
    plural: "pipelines",
    spec: `description:string ${params} ${workspaces} tasks:[(name!:string taskRef:(name:string kind:string)
      taskSpec:any runAfter:[string] params:[(name!:string value!:any)] when:[(input!:string
      operator!:in|notin
      values!:[string])] retries:int timeout:string)] finally:[any]`,
    sample: { "spec.tasks.0.taskSpec": undefined },
    rules: {
      "spec.tasks": [
        ["self.all(t, has(t.taskRef) != has(t.taskSpec))", "a task is referred to or written out"],
      ],
    },
    refused: [["spec.tasks", [{ name: "a" }], "a task is referred to or written out"]],
  },
  {
    ...tekton,
    kind: "PipelineRun",
    plural: "pipelineruns",
    short: "pr,prs",
    spec: `pipelineRef:(name:string) pipelineSpec:any ${params}
      status:Cancelled|StoppedRunFinally|PipelineRunPending
      timeouts:(pipeline:string tasks:string finally:string) workspaces:[any]`,
    status: `${conditions} startTime:date-time completionTime:date-time childReferences:[any]`,
  },
  {
    ...cluster,
    kind: "Cluster",
    plural: "clusters",
    short: "cl",
    spec: `paused:bool clusterNetwork:(apiServerPort:int services:(cidrBlocks!:[string])
      pods:(cidrBlocks!:[string])
      serviceDomain:string) controlPlaneEndpoint:(host!:string port!:int) controlPlaneRef:${ref}
      infrastructureRef:${ref} topology:(class!:string version!:string controlPlane:(replicas:int)
      variables:[name:(name!:string value!:any)])`,
    status: `phase:string infrastructureReady:bool controlPlaneReady:bool ${conditions}`,
    columns: "Phase=.status.phase",
  },
  {
    ...cluster,
    kind: "Machine",
    plural: "machines",
    short: "ma",
    spec: machine,
    status: `phase:string nodeRef:${ref} addresses:[(type!:string address!:string)] ${conditions}`,
    columns: "Cluster=.spec.clusterName;Phase=.status.phase",
    rules: { "spec.clusterName": [["self.matches('^[a-z0-9-]+$')", "the name of a cluster"]] },
    refused: [["spec.clusterName", "Not One", "the name of a cluster"]],
  },
  {
    ...cluster,
    kind: "MachineDeployment",
    plural: "machinedeployments",
    short: "md",
    scale: true,
    spec: `clusterName!:string replicas:int=1 selector!:${selector} template!:(metadata:any spec:(${machine}))
      strategy:(type:RollingUpdate|OnDelete rollingUpdate:(maxSurge:quantity maxUnavailable:quantity))
      minReadySeconds:int=0 paused:bool`,
    status: `replicas:int selector:string readyReplicas:int ${conditions}`,
  },
  {
    ...kafka,
    kind: "Kafka",
    plural: "kafkas",
    short: "k",
    spec: `kafka!:(version:string replicas!:int listeners!:[name:(name!:string port!:int
      type!:internal|route|loadbalancer|nodeport tls!:bool authentication:any)] config:any
      storage!:(type!:ephemeral|persistent-claim|jbod size:string class:string deleteClaim:bool volumes:[any])
      resources:${resources}) zookeeper:(replicas!:int storage!:any) entityOperator:any`,
    sample: { "spec.kafka.listeners.0.port": 9092 },
    status: `${conditions} listeners:[any] clusterId:string observedGeneration:int`,
    rules: { "spec.kafka.listeners": [["self.all(l, l.port >= 9092)", "ports begin at 9092"]] },
    refused: [
      [
        "spec.kafka.listeners",
        [{ name: "a", port: 80, type: "internal", tls: false }],
        "ports begin at 9092",
      ],
    ],
  },
  {
    ...kafka,
    kind: "KafkaTopic",
    plural: "kafkatopics",
    short: "kt",
    spec: "partitions:int replicas:int config:any topicName:string",
    status: `${conditions} topicName:string`,
    columns: "Partitions=.spec.partitions",
    rules: {
      spec: [["!has(oldSelf.partitions) || self.partitions >= oldSelf.partitions", "partitions only grow"]],
    },
  },
  {
    group: "cilium.example.io",
    version: "v2",
    kind: "CiliumNetworkPolicy",
    plural: "ciliumnetworkpolicies",
    short: "cnp",
    spec: `endpointSelector:${selector} description:string ingress:[(fromEndpoints:[${selector}]
      fromCIDR:[string]
      toPorts:[(ports:[(port!:string protocol:TCP|UDP|SCTP|ANY endPort:int)] rules:any)])]
      egress:[(toEndpoints:[${selector}] toFQDNs:[(matchName:string matchPattern:string)]
      toCIDRSet:[(cidr!:string except:[string])] toPorts:[any])]`,
    status: "nodes:{any}",
    rules: { spec: [["has(self.ingress) || has(self.egress)", "a policy says something"]] },
    refused: [["spec", {}, "a policy says something"]],
  },
  {
    group: "external-secrets.example.io",
    version: "v1beta1",
    kind: "ExternalSecret",
    plural: "externalsecrets",
    short: "es",
    spec: `refreshInterval:string=1h secretStoreRef:(name!:string kind:string) target:(name:string
      creationPolicy:Owner|Orphan|Merge|None=Owner deletionPolicy:Delete|Merge|Retain=Retain template:any)
      data:[(secretKey!:string remoteRef!:(key!:string property:string version:string))] dataFrom:[any]`,
    status: `${conditions} refreshTime:date-time syncedResourceVersion:string`,
    columns: `Store=.spec.secretStoreRef.name;Refresh Interval=.spec.refreshInterval;${ready}`,
  },
  {
    group: "keda.example.sh",
    version: "v1alpha1",
    kind: "ScaledObject",
    plural: "scaledobjects",
    short: "so",
    spec: `scaleTargetRef!:(name!:string kind:string apiVersion:string) minReplicaCount:int
      maxReplicaCount:int
      pollingInterval:int cooldownPeriod:int triggers!:[(type!:string name:string metadata!:{string}
      authenticationRef:(name!:string kind:string))] fallback:(failureThreshold!:int replicas!:int)`,
    status: `${conditions} hpaName:string`,
    rules: {
      spec: [
        [
          "!has(self.minReplicaCount) || self.minReplicaCount <= self.maxReplicaCount",
          "the least is at most the most",
        ],
      ],
    },
    refused: [["spec.minReplicaCount", 3, "the least is at most the most"]],
  },
];
