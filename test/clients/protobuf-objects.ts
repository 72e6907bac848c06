/**
 * Objects that use much of what their kinds have: what is not in them is not compared. Nothing that a controller
 * would act on: no owners that are not there, no status that is computed.
 */

/** Where objects of a kind are, and one of them. Those with a status have it written apart, as the API wants it. */
export interface Sample {
  /** Below a namespace where the kind has one, as in `/api/v1/namespaces/NAMESPACE/pods`. */
  readonly path: string;
  readonly object: SampleObject;
}

interface SampleObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [member: string]: unknown };
  readonly status?: unknown;
  readonly [member: string]: unknown;
}

const early = '2001-02-03T04:05:06Z';
const precise = '2026-01-02T03:04:05.000678Z';

const probe = {
  initialDelaySeconds: 1,
  timeoutSeconds: 2,
  periodSeconds: 3,
  successThreshold: 1,
  failureThreshold: 4,
  terminationGracePeriodSeconds: 5,
};

const selector = {
  matchLabels: { app: 'a', empty: '' },
  matchExpressions: [
    { key: 'tier', operator: 'In', values: ['x', 'y'] },
    { key: 'gone', operator: 'DoesNotExist' },
  ],
};

const podSpec = {
  nodeName: 'node-a',
  serviceAccountName: 'default',
  automountServiceAccountToken: false,
  hostNetwork: false,
  hostname: 'h',
  subdomain: 's',
  restartPolicy: 'Never',
  terminationGracePeriodSeconds: 0,
  activeDeadlineSeconds: 600,
  dnsPolicy: 'None',
  dnsConfig: {
    nameservers: ['10.0.0.1'],
    searches: ['a.b'],
    options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
  },
  hostAliases: [{ ip: '10.0.0.2', hostnames: ['one', 'two'] }],
  imagePullSecrets: [{ name: 'pull' }],
  readinessGates: [{ conditionType: 'example.com/ready' }],
  enableServiceLinks: false,
  setHostnameAsFQDN: true,
  securityContext: {
    runAsUser: 0,
    runAsGroup: 2_147_483_647,
    runAsNonRoot: false,
    supplementalGroups: [1, 2, 70_000],
    fsGroup: 3,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'Localhost', localhostProfile: 'p' },
    seLinuxOptions: { level: 's0', role: 'r', type: 't', user: 'u' },
    sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }],
  },
  nodeSelector: { disk: 'fast' },
  tolerations: [
    { key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 0 },
    { operator: 'Exists' },
  ],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: selector,
      minDomains: 2,
    },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          {
            matchExpressions: [{ key: 'cpu', operator: 'Gt', values: ['4'] }],
            matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }],
          },
        ],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 7, preference: { matchExpressions: [{ key: 'x', operator: 'Exists' }] } },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          podAffinityTerm: { topologyKey: 't', labelSelector: selector, namespaces: ['default'] },
        },
      ],
    },
  },
  initContainers: [{ name: 'init', image: 'i', restartPolicy: 'Always' }],
  containers: [
    {
      name: 'main',
      image: 'image:1',
      command: ['sh', '-c', ''],
      args: ['ü', '\u{1f407}'],
      workingDir: '/w',
      ports: [
        { name: 'http', containerPort: 80, protocol: 'TCP' },
        { containerPort: 53, hostPort: 5353, hostIP: '127.0.0.1', protocol: 'UDP' },
      ],
      env: [
        { name: 'PLAIN', value: 'v' },
        { name: 'EMPTY' },
        { name: 'FIELD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        {
          name: 'RESOURCE',
          valueFrom: { resourceFieldRef: { resource: 'limits.cpu', containerName: 'main', divisor: '1m' } },
        },
        { name: 'SECRET', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: false } } },
        { name: 'CONFIG', valueFrom: { configMapKeyRef: { name: 'c', key: 'k' } } },
      ],
      envFrom: [{ prefix: 'P_', configMapRef: { name: 'c', optional: true } }, { secretRef: { name: 's' } }],
      resources: { requests: { cpu: '0.5', memory: '1Gi' }, limits: { cpu: '1500m', memory: '2G' } },
      volumeMounts: [
        {
          name: 'empty',
          mountPath: '/e',
          subPath: 'x',
          readOnly: true,
          mountPropagation: 'None',
          recursiveReadOnly: 'Disabled',
        },
      ],
      volumeDevices: [{ name: 'claim', devicePath: '/dev/x' }],
      livenessProbe: {
        ...probe,
        httpGet: { path: '/', port: 'http', scheme: 'HTTPS', httpHeaders: [{ name: 'A', value: 'b' }] },
      },
      readinessProbe: {
        periodSeconds: 1,
        tcpSocket: { port: 8080, host: 'h' },
      },
      startupProbe: { grpc: { port: 9090, service: 's' } },
      lifecycle: {
        postStart: { exec: { command: ['true'] } },
        preStop: { sleep: { seconds: 0 } },
      },
      imagePullPolicy: 'Always',
      terminationMessagePath: '/t',
      terminationMessagePolicy: 'FallbackToLogsOnError',
      stdin: true,
      tty: true,
      securityContext: {
        allowPrivilegeEscalation: false,
        privileged: false,
        readOnlyRootFilesystem: true,
        procMount: 'Default',
        capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
        appArmorProfile: { type: 'RuntimeDefault' },
      },
    },
  ],
  volumes: [
    { name: 'empty', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
    { name: 'plain', emptyDir: {} },
    { name: 'claim', persistentVolumeClaim: { claimName: 'c', readOnly: true } },
    { name: 'host', hostPath: { path: '/h', type: 'Directory' } },
    { name: 'nfs', nfs: { server: 's', path: '/p' } },
    { name: 'image', image: { reference: 'r', pullPolicy: 'Never' } },
    { name: 'csi', csi: { driver: 'd.example', volumeAttributes: { a: 'b' }, fsType: 'ext4' } },
    {
      name: 'config',
      configMap: { name: 'c', defaultMode: 256, items: [{ key: 'k', path: 'p', mode: 0 }], optional: true },
    },
    { name: 'secret', secret: { secretName: 's', defaultMode: 420 } },
    {
      name: 'down',
      downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }], defaultMode: 420 },
    },
    {
      name: 'projected',
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { audience: 'a', expirationSeconds: 3600, path: 't' } },
          { configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } },
          { secret: { name: 's' } },
        ],
      },
    },
    {
      name: 'ephemeral',
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { a: 'b' } },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      },
    },
  ],
};

const podStatus = {
  phase: 'Running',
  conditions: [
    {
      type: 'Ready',
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: early,
      reason: 'R',
      message: 'm',
      observedGeneration: 1,
    },
  ],
  hostIP: '10.0.0.9',
  hostIPs: [{ ip: '10.0.0.9' }],
  podIP: '10.0.0.3',
  podIPs: [{ ip: '10.0.0.3' }, { ip: 'fd00::3' }],
  startTime: early,
  qosClass: 'Burstable',
  containerStatuses: [
    {
      name: 'main',
      ready: false,
      started: false,
      restartCount: 3,
      image: 'i',
      imageID: 'x',
      containerID: 'c://1',
      state: { running: { startedAt: early } },
      lastState: {
        terminated: {
          exitCode: 0,
          signal: 9,
          reason: 'Done',
          startedAt: early,
          finishedAt: null,
          containerID: 'c://0',
        },
      },
      allocatedResources: { cpu: '500m' },
    },
  ],
  initContainerStatuses: [
    {
      name: 'init',
      ready: true,
      restartCount: 0,
      image: '',
      imageID: '',
      state: { waiting: { reason: 'W' } },
      lastState: {},
    },
  ],
};

const schema = {
  type: 'object',
  description: 'all there is',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      properties: {
        number: {
          type: 'number',
          minimum: 0,
          maximum: 1.5,
          exclusiveMaximum: true,
          multipleOf: 0.25,
          default: 0.5,
        },
        text: {
          type: 'string',
          minLength: 0,
          maxLength: 10,
          pattern: '^a',
          enum: ['a', 'ab'],
          format: 'byte',
          nullable: true,
        },
        list: {
          type: 'array',
          minItems: 1,
          maxItems: 3,
          items: {
            type: 'object',
            required: ['k'],
            properties: { k: { type: 'string' }, v: { 'x-kubernetes-int-or-string': true } },
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          default: [{ k: 'a', v: 1 }],
        },
        open: { type: 'object', additionalProperties: { type: 'integer', format: 'int64' } },
        any: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          'x-kubernetes-map-type': 'atomic',
        },
        embedded: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
        either: {
          type: 'integer',
          oneOf: [{ minimum: 1 }, { maximum: -1 }],
          not: { enum: [7, null, { a: [] }] },
        },
        example: { type: 'string', example: 'e', externalDocs: { description: 'd', url: 'u' }, title: 't' },
      },
      'x-kubernetes-validations': [
        {
          rule: 'self.number >= 0.0 && oldSelf.hasValue()',
          message: 'no',
          reason: 'FieldValueInvalid',
          fieldPath: '.number',
          optionalOldSelf: true,
        },
        { rule: 'true', messageExpression: "'x'" },
      ],
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' } } },
  },
};

const rules = [
  { apiGroups: ['', 'apps'], resources: ['pods', 'pods/log'], resourceNames: ['one'], verbs: ['get', '*'] },
];
const group = 'rbac.authorization.k8s.io';
const subjects = [
  { kind: 'User', name: 'u', apiGroup: group },
  { kind: 'ServiceAccount', name: 'a', namespace: 'n' },
];

export const samples: readonly Sample[] = [
  {
    path: '/api/v1/namespaces',
    object: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'protobuf-other', labels: { a: 'b' }, annotations: { text: 'line\nline' } },
    },
  },
  {
    path: '/api/v1/nodes',
    object: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'protobuf-node' },
      spec: {
        podCIDR: '10.1.0.0/24',
        podCIDRs: ['10.1.0.0/24'],
        providerID: 'p://1',
        unschedulable: true,
        taints: [{ key: 'k', value: 'v', effect: 'NoSchedule', timeAdded: early }],
      },
      status: {
        capacity: { cpu: '2', memory: '8Gi', 'example.com/thing': '3' },
        allocatable: { cpu: '1900m' },
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            lastHeartbeatTime: early,
            lastTransitionTime: early,
            reason: 'R',
            message: 'm',
          },
        ],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
        nodeInfo: {
          machineID: 'm',
          systemUUID: 's',
          bootID: 'b',
          kernelVersion: 'k',
          osImage: 'o',
          containerRuntimeVersion: 'c',
          kubeletVersion: 'v1',
          kubeProxyVersion: '',
          operatingSystem: 'linux',
          architecture: 'amd64',
        },
        images: [{ names: ['a', 'b'], sizeBytes: 123_456_789_012 }],
        volumesInUse: ['v'],
        runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
      },
    },
  },
  {
    path: '/api/v1/namespaces/NAMESPACE/pods',
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'a',
        labels: { app: 'a' },
        finalizers: ['example.com/hold'],
      },
      spec: podSpec,
      status: podStatus,
    },
  },
  {
    path: '/api/v1/namespaces/NAMESPACE/services',
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: {
        type: 'LoadBalancer',
        selector: { app: 'a' },
        ports: [
          {
            name: 'http',
            port: 80,
            targetPort: 'http',
            protocol: 'TCP',
            appProtocol: 'http',
            nodePort: 31_234,
          },
          { name: 'dns', port: 53, targetPort: 5353, protocol: 'UDP' },
        ],
        externalIPs: ['203.0.113.1'],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
        loadBalancerSourceRanges: ['203.0.113.0/24'],
        externalTrafficPolicy: 'Local',
        allocateLoadBalancerNodePorts: false,
        publishNotReadyAddresses: true,
        ipFamilyPolicy: 'SingleStack',
      },
      status: {
        loadBalancer: {
          ingress: [
            { ip: '203.0.113.2', ipMode: 'VIP', ports: [{ port: 80, protocol: 'TCP' }] },
            { hostname: 'h.example' },
          ],
        },
      },
    },
  },
  {
    path: '/api/v1/namespaces/NAMESPACE/configmaps',
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      immutable: false,
      data: { text: 'v', empty: '', 'with.dots': '\u{0}\u{7f}' },
      binaryData: { bytes: 'AP/+', none: '' },
    },
  },
  {
    path: '/api/v1/namespaces/NAMESPACE/secrets',
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
      type: 'Opaque',
      immutable: true,
      data: { key: 'c2VjcmV0' },
    },
  },
  {
    path: '/api/v1/namespaces/NAMESPACE/serviceaccounts',
    object: {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'a' },
      secrets: [{ name: 's' }],
      imagePullSecrets: [{ name: 'p' }],
      automountServiceAccountToken: false,
    },
  },
  {
    path: '/api/v1/persistentvolumes',
    object: {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'protobuf-volume' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: 'c',
        volumeMode: 'Block',
        mountOptions: ['ro'],
        local: { path: '/disk' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'h', operator: 'In', values: ['n'] }] }],
          },
        },
        claimRef: { kind: 'PersistentVolumeClaim', namespace: 'n', name: 'c', apiVersion: 'v1' },
      },
    },
  },
  {
    path: '/api/v1/namespaces/NAMESPACE/persistentvolumeclaims',
    object: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'a' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1.5Gi' }, limits: { storage: '2Gi' } },
        storageClassName: '',
        volumeMode: 'Filesystem',
        selector,
        dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' },
      },
      status: {
        phase: 'Pending',
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        conditions: [
          {
            type: 'Resizing',
            status: 'True',
            lastProbeTime: early,
            lastTransitionTime: null,
            reason: '',
            message: 'm',
          },
        ],
      },
    },
  },
  {
    path: '/api/v1/namespaces/NAMESPACE/events',
    object: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'a', namespace: 'NAMESPACE' },
      involvedObject: { kind: 'Pod', namespace: 'NAMESPACE', name: 'a', uid: 'u', fieldPath: 'f' },
      reason: 'R',
      message: 'm',
      source: { component: 'c', host: 'h' },
      firstTimestamp: early,
      lastTimestamp: null,
      count: 2,
      type: 'Normal',
    },
  },
  {
    path: '/apis/events.k8s.io/v1/namespaces/NAMESPACE/events',
    object: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'b', namespace: 'NAMESPACE' },
      eventTime: precise,
      series: { count: 2, lastObservedTime: '2026-01-02T03:04:06.000000Z' },
      reportingController: 'c.example/x',
      reportingInstance: 'i',
      action: 'A',
      reason: 'R',
      regarding: { kind: 'Pod', namespace: 'NAMESPACE', name: 'a' },
      note: 'n',
      type: 'Warning',
    },
  },
  {
    path: '/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases',
    object: {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'a' },
      spec: {
        holderIdentity: 'h',
        leaseDurationSeconds: 15,
        acquireTime: precise,
        renewTime: '1969-12-31T23:59:59.999999Z',
        leaseTransitions: 0,
      },
    },
  },
  {
    path: '/apis/discovery.k8s.io/v1/namespaces/NAMESPACE/endpointslices',
    object: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'a', labels: { 'kubernetes.io/service-name': 'other' } },
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['10.0.0.3'],
          conditions: { ready: true, serving: false },
          hostname: 'h',
          nodeName: 'n',
          zone: 'z',
          targetRef: { kind: 'Pod', name: 'a' },
          hints: { forZones: [{ name: 'z' }] },
        },
        { addresses: ['10.0.0.4'] },
      ],
      ports: [
        { name: '', port: 80, protocol: 'TCP' },
        { name: 'x', port: null, protocol: 'UDP', appProtocol: 'a' },
      ],
    },
  },
  {
    path: '/apis/networking.k8s.io/v1/namespaces/NAMESPACE/networkpolicies',
    object: {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'a' },
      spec: {
        podSelector: {},
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          {
            from: [
              { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
              { namespaceSelector: {}, podSelector: selector },
            ],
            ports: [{ protocol: 'TCP', port: 80, endPort: 90 }, { port: 'http' }, {}],
          },
        ],
        egress: [{}],
      },
    },
  },
  {
    path: '/apis/policy/v1/namespaces/NAMESPACE/poddisruptionbudgets',
    object: {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'a' },
      spec: { minAvailable: '50%', selector, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    },
  },
  {
    path: '/apis/policy/v1/namespaces/NAMESPACE/poddisruptionbudgets',
    object: {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'b' },
      spec: { maxUnavailable: 0, selector: {} },
    },
  },
  {
    path: '/apis/storage.k8s.io/v1/storageclasses',
    object: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'protobuf-class' },
      provisioner: 'p.example',
      parameters: { a: 'b' },
      reclaimPolicy: 'Retain',
      mountOptions: ['m'],
      allowVolumeExpansion: false,
      volumeBindingMode: 'WaitForFirstConsumer',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'k', values: ['v'] }] }],
    },
  },
  {
    path: '/apis/node.k8s.io/v1/runtimeclasses',
    object: {
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'protobuf-runtime' },
      handler: 'h',
      overhead: { podFixed: { cpu: '10m' } },
      scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists' }] },
    },
  },
  {
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    object: {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'protobuf-priority' },
      value: -5,
      globalDefault: false,
      description: 'd',
      preemptionPolicy: 'Never',
    },
  },
  {
    path: `/apis/${group}/v1/namespaces/NAMESPACE/roles`,
    object: { apiVersion: `${group}/v1`, kind: 'Role', metadata: { name: 'a' }, rules },
  },
  {
    path: `/apis/${group}/v1/namespaces/NAMESPACE/rolebindings`,
    object: {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'a' },
      subjects,
      roleRef: { apiGroup: group, kind: 'Role', name: 'a' },
    },
  },
  {
    path: `/apis/${group}/v1/clusterroles`,
    object: {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'protobuf-role' },
      rules: [{ nonResourceURLs: ['/healthz'], verbs: ['get'] }],
    },
  },
  {
    path: `/apis/${group}/v1/clusterrolebindings`,
    object: {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'protobuf-binding' },
      subjects,
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'protobuf-role' },
    },
  },
  {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    object: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: {
          plural: 'things',
          singular: 'thing',
          kind: 'Thing',
          listKind: 'ThingList',
          shortNames: ['th'],
          categories: ['all'],
        },
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { service: { namespace: 'n', name: 's', path: '/p', port: 443 } },
          },
        },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schema },
            subresources: {
              status: {},
              scale: { specReplicasPath: '.spec.number', statusReplicasPath: '.status.replicas' },
            },
            additionalPrinterColumns: [
              { name: 'N', type: 'number', jsonPath: '.spec.number', priority: 0, description: 'd' },
            ],
            selectableFields: [{ jsonPath: '.spec.text' }],
          },
          {
            name: 'v0',
            served: false,
            storage: false,
            deprecated: true,
            deprecationWarning: 'old',
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    },
  },
];
