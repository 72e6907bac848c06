import { area } from '../harness/case.ts';
import { at, type JsonRecord } from '../harness/json.ts';
import { configMap, pod, secret, service, verdict } from './objects.ts';

const accounts = { namespace: 'with-accounts' } as const;

export const podCases = area(
  'pods',
  (add) => {
    add('a pod with its defaults', async (s) => {
      await s.post(s.in('pods'), {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'main', image: 'nginx' }] },
      });
    });
    add('defaults of a pod with everything', async (s) => {
      await s.post(
        s.in('pods'),
        pod('a', {
          restartPolicy: 'OnFailure',
          hostNetwork: true,
          initContainers: [
            {
              name: 'init',
              image: 'x:latest',
              restartPolicy: 'Always',
              startupProbe: { exec: { command: ['true'] } },
            },
          ],
          containers: [
            {
              name: 'main',
              image: 'example.com/x:1.2@sha256:'.concat('a'.repeat(64)),
              ports: [
                { containerPort: 80, name: 'http' },
                { containerPort: 53, protocol: 'UDP' },
              ],
              env: [
                { name: 'A', value: 'b' },
                { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
                { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
              ],
              resources: { limits: { cpu: '1', memory: '1024Mi' } },
              livenessProbe: { httpGet: { port: 80 } },
              readinessProbe: { tcpSocket: { port: 'http' } },
              startupProbe: { grpc: { port: 80 } },
              lifecycle: { preStop: { httpGet: { port: 80 } } },
              volumeMounts: [{ name: 'v', mountPath: '/v' }],
            },
          ],
          volumes: [
            { name: 'v' },
            { name: 'e', emptyDir: {} },
            { name: 'c', configMap: { name: 'x' } },
            { name: 's', secret: { secretName: 'x' } },
            {
              name: 'd',
              downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] },
            },
            { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
            { name: 'h', hostPath: { path: '/x' } },
            { name: 'i', image: { reference: 'example.com/i:1' } },
          ],
          tolerations: [{ key: 'x', operator: 'Exists' }],
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
          ],
          securityContext: { runAsUser: 1000 },
        }),
      );
    });
    add('a pod with a token of its account', async (s) => {
      await s.post(
        s.in('pods'),
        pod('a', {
          automountServiceAccountToken: true,
          containers: [
            { name: 'x', image: 'x' },
            {
              name: 'y',
              image: 'y',
              volumeMounts: [{ name: 'own', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
            },
          ],
          volumes: [{ name: 'own', emptyDir: {} }],
        }),
      );
    });
    const images = {
      'without a tag': 'nginx',
      latest: 'nginx:latest',
      'with a tag': 'nginx:1',
      'with a digest': `nginx@sha256:${'a'.repeat(64)}`,
      'of a registry with a port': 'localhost:5000/nginx',
      'of a registry with a port and a tag': 'localhost:5000/nginx:1',
      'with spaces around': ' nginx ',
    };
    for (const [what, image] of Object.entries(images)) {
      add(`the pull policy of an image ${what}`, async (s) => {
        await s.post(s.in('pods'), pod('a', { containers: [{ name: 'main', image }] }), {
          show: (body) => at(body, 'spec', 'containers', 0, 'imagePullPolicy') ?? body,
        });
      });
    }
    const classes: Readonly<Record<string, JsonRecord[]>> = {
      BestEffort: [{ name: 'a', image: 'x' }],
      Burstable: [{ name: 'a', image: 'x', resources: { requests: { cpu: '1' } } }],
      Guaranteed: [{ name: 'a', image: 'x', resources: { limits: { cpu: '1', memory: '1Gi' } } }],
      'Burstable with two': [
        { name: 'a', image: 'x', resources: { limits: { cpu: '1', memory: '1Gi' } } },
        { name: 'b', image: 'x' },
      ],
    };
    for (const [what, containers] of Object.entries(classes)) {
      add(`the class ${what}`, async (s) => {
        await s.post(s.in('pods'), pod('a', { containers }), {
          show: (body) => ({
            class: at(body, 'status', 'qosClass'),
            resources: (at(body, 'spec', 'containers') as JsonRecord[]).map(({ resources }) => resources),
          }),
        });
      });
    }
    const c = (fields: JsonRecord) => ({ containers: [{ name: 'main', image: 'x', ...fields }] });
    const wrong: Readonly<Record<string, JsonRecord>> = {
      'no containers': { containers: [] },
      'containers left out': { containers: undefined },
      'no container name': { containers: [{ image: 'x' }] },
      'a bad container name': { containers: [{ name: 'A_b', image: 'x' }] },
      'no image': { containers: [{ name: 'a' }] },
      'two containers of one name': {
        containers: [
          { name: 'a', image: 'x' },
          { name: 'a', image: 'y' },
        ],
      },
      'a container and an init container of one name': {
        containers: [{ name: 'a', image: 'x' }],
        initContainers: [{ name: 'a', image: 'x' }],
      },
      'an unknown restart policy': { restartPolicy: 'Sometimes' },
      'an unknown DNS policy': { dnsPolicy: 'Nonsense' },
      'an unknown pull policy': c({ imagePullPolicy: 'Maybe' }),
      'a port out of range': c({ ports: [{ containerPort: 70000 }] }),
      'a port of zero': c({ ports: [{ containerPort: 0 }] }),
      'a port with an unknown protocol': c({ ports: [{ containerPort: 80, protocol: 'ICMP' }] }),
      'a bad port name': c({ ports: [{ containerPort: 80, name: 'This_is_bad' }] }),
      'a port name that is too long': c({ ports: [{ containerPort: 80, name: 'a'.repeat(16) }] }),
      'two ports of one name': c({
        ports: [
          { containerPort: 80, name: 'a' },
          { containerPort: 81, name: 'a' },
        ],
      }),
      'two ports of one number': c({ ports: [{ containerPort: 80 }, { containerPort: 80 }] }),
      'a host port twice': c({
        ports: [
          { containerPort: 80, hostPort: 80 },
          { containerPort: 81, hostPort: 80 },
        ],
      }),
      'an env without a name': c({ env: [{ value: 'x' }] }),
      'an env name with an equals sign': c({ env: [{ name: 'A=B', value: 'x' }] }),
      'an env name that begins with a digit': c({ env: [{ name: '1A', value: 'x' }] }),
      'an env with a value and a source': c({
        env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      }),
      'an env from an unknown field': c({
        env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nonsense' } } }],
      }),
      'an env from an empty source': c({ env: [{ name: 'A', valueFrom: {} }] }),
      'an env from two sources': c({
        env: [
          {
            name: 'A',
            valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 'x', key: 'y' } },
          },
        ],
      }),
      'an env from a secret without a key': c({
        env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'x' } } }],
      }),
      'envFrom of nothing': c({ envFrom: [{}] }),
      'a mount of no volume': c({ volumeMounts: [{ name: 'nosuch', mountPath: '/x' }] }),
      'a mount without a path': {
        ...c({ volumeMounts: [{ name: 'v' }] }),
        volumes: [{ name: 'v', emptyDir: {} }],
      },
      'two mounts at one path': {
        ...c({
          volumeMounts: [
            { name: 'v', mountPath: '/x' },
            { name: 'v', mountPath: '/x' },
          ],
        }),
        volumes: [{ name: 'v', emptyDir: {} }],
      },
      'a mount with a sub path that leaves': {
        ...c({ volumeMounts: [{ name: 'v', mountPath: '/x', subPath: '../y' }] }),
        volumes: [{ name: 'v', emptyDir: {} }],
      },
      'two volumes of one name': {
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'v', emptyDir: {} },
        ],
      },
      'a volume without a name': { volumes: [{ emptyDir: {} }] },
      'a volume of two sources': { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] },
      'a volume of a secret without a name': { volumes: [{ name: 'v', secret: {} }] },
      'a volume of a claim without a name': {
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: '' } }],
      },
      'a volume mode out of range': {
        volumes: [{ name: 'v', configMap: { name: 'x', defaultMode: 0o1777 } }],
      },
      'a host path that goes back': { volumes: [{ name: 'v', hostPath: { path: '/a/../b' } }] },
      'a request above its limit': c({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
      'a negative request': c({ resources: { requests: { cpu: '-1' } } }),
      'a quantity that is none': c({ resources: { requests: { cpu: 'x' } } }),
      'an unknown resource': c({ resources: { requests: { nonsense: '1' } } }),
      'a resource of a company': c({ resources: { limits: { 'example.com/gpu': '1' } } }),
      'a fraction of a device': c({ resources: { limits: { 'example.com/gpu': '1.5' } } }),
      'a probe of two kinds': c({ livenessProbe: { exec: { command: ['x'] }, tcpSocket: { port: 1 } } }),
      'a probe of no kind': c({ livenessProbe: {} }),
      'a probe with negative times': c({
        livenessProbe: { exec: { command: ['x'] }, periodSeconds: -1, timeoutSeconds: -1 },
      }),
      'a liveness probe with a success threshold': c({
        livenessProbe: { exec: { command: ['x'] }, successThreshold: 2 },
      }),
      'a probe without a port': c({ readinessProbe: { httpGet: { path: '/' } } }),
      'a probe of an unknown port name': c({ readinessProbe: { httpGet: { port: 'nosuch' } } }),
      'a probe of an init container': {
        initContainers: [{ name: 'i', image: 'x', readinessProbe: { exec: { command: ['x'] } } }],
      },
      'a negative grace period': { terminationGracePeriodSeconds: -1 },
      'a deadline of zero': { activeDeadlineSeconds: 0 },
      'a bad node name': { nodeName: 'Bad_Name' },
      'a bad host name': { hostname: 'Bad_Name' },
      'a bad subdomain': { subdomain: 'a.b' },
      'a bad node selector': { nodeSelector: { 'a b': 'x' } },
      'a toleration without a key': { tolerations: [{ operator: 'Equal', value: 'x' }] },
      'a toleration with a bad operator': { tolerations: [{ key: 'x', operator: 'Nonsense' }] },
      'a toleration with a bad effect': { tolerations: [{ key: 'x', effect: 'Nonsense' }] },
      'a missing priority class': { priorityClassName: 'nosuch' },
      'a missing runtime class': { runtimeClassName: 'nosuch' },
      'a missing account': { serviceAccountName: 'nosuch' },
      'a bad pull secret': { imagePullSecrets: [{ name: '' }] },
      'a user that is no number': { securityContext: { runAsUser: -1 } },
      'a sysctl with a bad name': { securityContext: { sysctls: [{ name: '-x', value: '1' }] } },
      'an unknown seccomp profile': { securityContext: { seccompProfile: { type: 'Nonsense' } } },
      'escalation beside privileges': c({
        securityContext: { privileged: true, allowPrivilegeEscalation: false },
      }),
      'host users beside the host network': {
        hostNetwork: true,
        hostPorts: 1,
        containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 80, hostPort: 81 }] }],
      },
      'an ephemeral container from the start': { ephemeralContainers: [{ name: 'e', image: 'x' }] },
      'a host alias that is no address': { hostAliases: [{ ip: 'x', hostnames: ['a'] }] },
      'a bad DNS config': { dnsPolicy: 'None' },
      'a scheduling gate with a bad name': { schedulingGates: [{ name: 'a b' }] },
      'an affinity without terms': {
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
        },
      },
      'an anti-affinity without a topology': {
        affinity: {
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {} }] },
        },
      },
      'a spread without a skew': {
        topologySpreadConstraints: [{ topologyKey: 'x', whenUnsatisfiable: 'Nonsense' }],
      },
      'wrong types': { containers: 'x' },
      'a wrong type deep down': c({ ports: [{ containerPort: 'x' }] }),
      'several problems': { restartPolicy: 'X', dnsPolicy: 'Y', containers: [{ name: 'A', image: '' }] },
      'a lifecycle hook of no kind': c({ lifecycle: { postStart: {} } }),
      'a termination message policy': c({ terminationMessagePolicy: 'Nonsense' }),
      'an overhead without a class': { overhead: { cpu: '1' } },
      'a readiness gate with a bad name': { readinessGates: [{ conditionType: 'a b' }] },
    };
    for (const [what, spec] of Object.entries(wrong)) {
      add(`${what}`, async (s) => void (await s.post(s.in('pods'), pod('a', spec), { show: verdict })));
    }

    add('what of a pod may change', async (s) => {
      const path = s.in('pods', 'a');
      await s.prepare(
        'POST',
        s.in('pods'),
        pod('a', { activeDeadlineSeconds: 100, tolerations: [{ key: 'x', operator: 'Exists' }] }),
      );
      await s.patch('json', path, [{ op: 'replace', path: '/spec/containers/0/image', value: 'other:2' }], {
        show: (body) => ({
          generation: at(body, 'metadata', 'generation'),
          image: at(body, 'spec', 'containers', 0, 'image'),
        }),
      });
      await s.patch('merge', path, { spec: { activeDeadlineSeconds: 50 } }, { show: verdict });
      await s.patch('merge', path, { spec: { activeDeadlineSeconds: 60 } });
      await s.patch(
        'json',
        path,
        [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'y', operator: 'Exists' } }],
        { show: verdict },
      );
      await s.patch('merge', path, { metadata: { labels: { a: 'b' } } }, { show: verdict });
      await s.patch(
        'merge',
        path,
        { spec: { terminationGracePeriodSeconds: 5 } },
        {
          show: (body) => ({
            ...(body as object),
            message: String(at(body, 'message')).slice(0, 200),
            details: undefined,
          }),
        },
      );
    });
    for (const [what, patch] of Object.entries({
      'the node name': [{ op: 'add', path: '/spec/nodeName', value: 'x' }],
      'the command': [{ op: 'add', path: '/spec/containers/0/command', value: ['x'] }],
      'a container': [{ op: 'add', path: '/spec/containers/-', value: { name: 'b', image: 'x' } }],
      'an env': [{ op: 'add', path: '/spec/containers/0/env', value: [{ name: 'A', value: 'b' }] }],
      'the restart policy': [{ op: 'replace', path: '/spec/restartPolicy', value: 'Never' }],
      'an empty image': [{ op: 'replace', path: '/spec/containers/0/image', value: '' }],
      'a toleration taken away': [{ op: 'remove', path: '/spec/tolerations/0' }],
      'the number of containers': [{ op: 'remove', path: '/spec/containers/0' }],
    })) {
      add(`a pod cannot change: ${what}`, async (s) => {
        await s.prepare('POST', s.in('pods'), pod('a', { tolerations: [{ key: 'x', operator: 'Exists' }] }));
        // The real message ends with a printed difference of two Go values, which only a Go program can print.
        const cut = (text: unknown) => String(text).split('\n')[0];
        await s.patch('json', s.in('pods', 'a'), patch, {
          show: (body) => ({
            code: at(body, 'code'),
            reason: at(body, 'reason'),
            message: cut(at(body, 'message')),
            causes: ((at(body, 'details', 'causes') ?? []) as JsonRecord[]).map((cause) => ({
              ...cause,
              message: cut(cause.message),
            })),
          }),
        });
      });
    }
    add('gates are taken away before a node is chosen', async (s) => {
      await s.prepare('POST', s.in('pods'), pod('a', { schedulingGates: [{ name: 'example.com/g' }] }));
      await s.get(s.in('pods', 'a'), { show: (body) => at(body, 'status') });
      await s.post(s.in('pods', 'a', 'binding'), {
        metadata: { name: 'a' },
        target: { kind: 'Node', name: 'n' },
      });
      await s.patch(
        'merge',
        s.in('pods', 'a'),
        { spec: { schedulingGates: null, nodeSelector: { a: 'b' } } },
        { show: (body) => ({ status: at(body, 'status'), code: at(body, 'code') }) },
      );
    });
    add('a pod with a node from the start', async (s) => {
      await s.post(s.in('pods'), pod('a', { nodeName: 'n1' }), {
        show: (body) => ({ node: at(body, 'spec', 'nodeName'), status: at(body, 'status') }),
      });
    });
    add('a pod of a priority', async (s) => {
      const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
      await s.prepare('POST', classes, {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: `c-${s.id}` },
        value: 7,
        preemptionPolicy: 'Never',
      });
      s.afterwards(() => s.prepare('DELETE', `${classes}/c-${s.id}`));
      // The admission plugin sees a class only when its cache does.
      for (let attempt = 0; attempt < 250; attempt++) {
        const probe = await s
          .prepare('POST', `${s.in('pods')}?dryRun=All`, pod('probe', { priorityClassName: `c-${s.id}` }))
          .catch(() => undefined);
        if (probe) break;
        await new Promise((done) => setTimeout(done, 20));
      }
      await s.post(s.in('pods'), pod('a', { priorityClassName: `c-${s.id}` }), {
        show: (body) => [
          at(body, 'spec', 'priority'),
          at(body, 'spec', 'preemptionPolicy'),
          at(body, 'message'),
        ],
      });
      await s.post(s.in('pods'), pod('b', { priority: 5 }), { show: verdict });
      await s.post(s.in('pods'), pod('c', { priorityClassName: 'system-node-critical' }), {
        show: (body) => at(body, 'spec', 'priority') ?? body,
      });
    });
  },
  accounts,
);

export const serviceCases = area('services', (add) => {
  add(
    'a service with its defaults',
    async (s) => void (await s.post(s.in('services'), service('a', { selector: { app: 'x' } }))),
  );
  add(
    'a headless service',
    async (s) =>
      void (await s.post(s.in('services'), service('a', { clusterIP: 'None', selector: { app: 'x' } }))),
  );
  add(
    'a headless service without ports',
    async (s) => void (await s.post(s.in('services'), service('a', { clusterIP: 'None', ports: [] }))),
  );
  add(
    'a service on a port of every node',
    async (s) => void (await s.post(s.in('services'), service('a', { type: 'NodePort' }))),
  );
  add(
    'a load balancer',
    async (s) => void (await s.post(s.in('services'), service('a', { type: 'LoadBalancer' }))),
  );
  add(
    'a name for another',
    async (s) =>
      void (await s.post(
        s.in('services'),
        service('a', { type: 'ExternalName', externalName: 'example.com', ports: [] }),
      )),
  );
  add(
    'several ports',
    async (s) =>
      void (await s.post(
        s.in('services'),
        service('a', {
          ports: [
            { name: 'a', port: 80, targetPort: 'http' },
            { name: 'b', port: 80, protocol: 'UDP', targetPort: 81 },
          ],
        }),
      )),
  );
  const wrong: Readonly<Record<string, JsonRecord>> = {
    'no ports': { ports: [] },
    'a port out of range': { ports: [{ port: 0 }] },
    'two ports without names': { ports: [{ port: 80 }, { port: 81 }] },
    'two ports of one name': {
      ports: [
        { name: 'a', port: 80 },
        { name: 'a', port: 81 },
      ],
    },
    'two ports of one number': {
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 80 },
      ],
    },
    'an unknown protocol': { ports: [{ port: 80, protocol: 'ICMP' }] },
    'a bad target port': { ports: [{ port: 80, targetPort: 'a_b' }] },
    'a target port out of range': { ports: [{ port: 80, targetPort: 70000 }] },
    'an unknown type': { type: 'Nonsense' },
    'an address that is none': { clusterIP: 'x' },
    'an address outside the range': { clusterIP: '1.2.3.4' },
    'an unknown affinity': { sessionAffinity: 'Nonsense' },
    'an affinity with its time': {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } },
    },
    'an affinity time out of range': {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 100000 } },
    },
    'a bad selector': { selector: { 'a b': 'x' } },
    'a name for another without one': { type: 'ExternalName', ports: [] },
    'a node port on a cluster address': { ports: [{ port: 80, nodePort: 30080 }] },
    'a node port out of range': { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] },
    'an external address': { externalIPs: ['1.2.3.4'] },
    'an external address of the loop': { externalIPs: ['127.0.0.1'] },
    'an unknown traffic policy': { internalTrafficPolicy: 'Nonsense' },
    'an external policy on a cluster address': { externalTrafficPolicy: 'Local' },
    'an unknown family': { ipFamilies: ['IPv5'] },
    'a family this server has not': { ipFamilies: ['IPv6'] },
    'two families required': { ipFamilyPolicy: 'RequireDualStack' },
    'two families preferred': { ipFamilyPolicy: 'PreferDualStack' },
    'a source range': { loadBalancerSourceRanges: ['x'] },
  };
  for (const [what, spec] of Object.entries(wrong)) {
    add(
      `a service with ${what}`,
      async (s) =>
        void (await s.post(s.in('services'), service('a', spec), {
          show: (body) => (at(body, 'kind') === 'Status' ? body : at(body, 'spec')),
        })),
    );
  }
  for (const name of ['a.b', '1a', 'A', 'a'.repeat(64)]) {
    add(
      `a service called ${name.length > 20 ? 'by 64 characters' : name}`,
      async (s) => void (await s.post(s.in('services'), service(name))),
    );
  }
  add('an address that is taken', async (s) => {
    const made = await s.prepare('POST', s.in('services'), service('a'));
    const clusterIP = String(at(made, 'spec', 'clusterIP'));
    const hide = (text: unknown) => String(text).replaceAll(clusterIP, '<taken>');
    const second = await s.post(s.in('services'), service('b', { clusterIP }), {
      show: (body) => [at(body, 'code'), at(body, 'reason')],
    });
    s.note('what it says', hide(at(second.body, 'message')));
  });
  add('updates of a service', async (s) => {
    const made = await s.prepare('POST', s.in('services'), service('a'));
    await s.put(s.in('services', 'a'), service('a', { ports: [{ port: 81 }] }), {
      show: (body) => at(body, 'spec') ?? body,
    });
    await s.patch('merge', s.in('services', 'a'), { spec: { clusterIP: 'None' } });
    await s.patch(
      'merge',
      s.in('services', 'a'),
      { spec: { type: 'NodePort' } },
      { show: (body) => at(body, 'spec') ?? body },
    );
    await s.patch(
      'merge',
      s.in('services', 'a'),
      { spec: { type: 'ClusterIP' } },
      { show: (body) => at(body, 'spec') ?? body },
    );
    await s.patch(
      'merge',
      s.in('services', 'a'),
      { spec: { type: 'ExternalName', externalName: 'x.example.com' } },
      { show: (body) => at(body, 'spec') ?? body },
    );
    s.note('a revision', at(made, 'metadata', 'resourceVersion') !== undefined);
  });
  add('a deleted service', async (s) => {
    await s.prepare('POST', s.in('services'), service('a'));
    await s.delete(s.in('services', 'a'), undefined, { show: (body) => at(body, 'kind') });
  });
  add(
    'the slices of a service',
    async (s) => {
      // Endpoints on a node that nobody knows are left out.
      await s.prepare('POST', '/api/v1/nodes', { metadata: { name: `n-${s.id}` } });
      s.afterwards(() => s.prepare('DELETE', `/api/v1/nodes/n-${s.id}`));
      const slices = s.in('discovery.k8s.io/v1/endpointslices');
      for (const [name, ip, ready] of [
        ['a', '10.1.1.1', 'True'],
        ['b', '10.1.1.2', 'False'],
      ] as const) {
        await s.prepare(
          'POST',
          s.in('pods'),
          pod(
            name,
            {
              nodeName: `n-${s.id}`,
              containers: [{ name: 'main', image: 'x', ports: [{ name: 'http', containerPort: 8080 }] }],
            },
            { labels: { app: 'x' } },
          ),
        );
        await s.prepare(
          'PATCH',
          s.in('pods', name, 'status'),
          {
            status: {
              phase: 'Running',
              podIP: ip,
              podIPs: [{ ip }],
              conditions: [{ type: 'Ready', status: ready }],
            },
          },
          { 'content-type': 'application/merge-patch+json' },
        );
      }
      await s.prepare(
        'POST',
        s.in('services'),
        service('svc', { selector: { app: 'x' }, ports: [{ port: 80, targetPort: 'http', name: 'web' }] }),
      );
      let found: JsonRecord | undefined;
      for (let attempt = 0; attempt < 500 && !found; attempt++) {
        const list = await s.peek(`${slices}?labelSelector=kubernetes.io/service-name=svc`);
        const slice = at(list, 'items', 0) as JsonRecord | undefined;
        if ((at(slice, 'endpoints') as unknown[] | undefined)?.length === 2) found = slice;
        else await new Promise((done) => setTimeout(done, 20)); // its name is made up, so no watch of one object can be used
      }
      const endpoints = ((at(found, 'endpoints') ?? []) as JsonRecord[]).toSorted((a, b) =>
        String(at(a, 'addresses', 0)) < String(at(b, 'addresses', 0)) ? -1 : 1,
      );
      s.note('the slice', {
        ...found,
        endpoints,
        metadata: {
          labels: at(found, 'metadata', 'labels'),
          generateName: at(found, 'metadata', 'generateName'),
          owners: at(found, 'metadata', 'ownerReferences'),
        },
      });
    },
    { ...accounts, needs: 'controllers' },
  );
});

export const kindCases = area('kinds', (add) => {
  interface Sample {
    readonly path: string;
    readonly body: JsonRecord;
    readonly isClusterWide?: boolean;
  }
  const rbac = 'rbac.authorization.k8s.io';
  const meta = { name: 'a' };
  const sample = (path: string, apiVersion: string, kind: string, fields: JsonRecord = {}): Sample => ({
    path,
    body: { apiVersion, kind, metadata: meta, ...fields },
  });
  const good: Readonly<Record<string, Sample>> = {
    'a secret': sample('secrets', 'v1', 'Secret', { stringData: { a: 'b' }, data: { c: 'ZA==' } }),
    'an account': sample('serviceaccounts', 'v1', 'ServiceAccount', {
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'x' }],
    }),
    'an event': sample('events', 'v1', 'Event', {
      involvedObject: { kind: 'Pod', name: 'p' },
      reason: 'Because',
      message: 'so',
    }),
    'a claim': sample('persistentvolumeclaims', 'v1', 'PersistentVolumeClaim', {
      spec: {
        storageClassName: 'none',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    }),
    'a lease': sample('coordination.k8s.io/v1/leases', 'coordination.k8s.io/v1', 'Lease', {
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' },
    }),
    'a network policy': sample(
      'networking.k8s.io/v1/networkpolicies',
      'networking.k8s.io/v1',
      'NetworkPolicy',
      {
        spec: {
          podSelector: {},
          ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }],
          egress: [],
        },
      },
    ),
    'a disruption budget': sample('policy/v1/poddisruptionbudgets', 'policy/v1', 'PodDisruptionBudget', {
      spec: { maxUnavailable: 1, selector: { matchLabels: { a: 'b' } } },
    }),
    'a role': sample(`${rbac}/v1/roles`, `${rbac}/v1`, 'Role', {
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    }),
    'a role binding': sample(`${rbac}/v1/rolebindings`, `${rbac}/v1`, 'RoleBinding', {
      roleRef: { kind: 'Role', name: 'x' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    }),
    'a slice of endpoints': sample(
      'discovery.k8s.io/v1/endpointslices',
      'discovery.k8s.io/v1',
      'EndpointSlice',
      { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.1.1'] }], ports: [{ port: 80 }] },
    ),
  };
  for (const [what, { path, body }] of Object.entries(good)) {
    add(`${what} with its defaults`, async (s) => {
      await s.post(s.in(path), body);
    });
  }
  const wide: Readonly<Record<string, readonly [path: string, body: JsonRecord]>> = {
    'a node': [
      '/api/v1/nodes',
      {
        apiVersion: 'v1',
        kind: 'Node',
        spec: { podCIDR: '10.1.0.0/24' },
        status: { capacity: { cpu: '1' } },
      },
    ],
    'a volume': [
      '/api/v1/persistentvolumes',
      {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/x' },
          storageClassName: 'none',
        },
      },
    ],
    'a storage class': [
      '/apis/storage.k8s.io/v1/storageclasses',
      { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'example.com/x' },
    ],
    'a runtime class': [
      '/apis/node.k8s.io/v1/runtimeclasses',
      { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler: 'runc' },
    ],
    'a priority class': [
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value: 10 },
    ],
    'a cluster role': [
      `/apis/${rbac}/v1/clusterroles`,
      { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] },
    ],
    'a cluster role binding': [
      `/apis/${rbac}/v1/clusterrolebindings`,
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'x' },
      },
    ],
  };
  for (const [what, [path, body]] of Object.entries(wide)) {
    add(
      `${what} with its defaults`,
      async (s) => {
        s.afterwards(() => s.prepare('DELETE', `${path}/n-${s.id}`));
        await s.post(path, { ...body, metadata: { name: `n-${s.id}` } });
      },
      { namespace: 'none' },
    );
  }

  const wrong: Readonly<Record<string, readonly [path: string, body: JsonRecord]>> = {
    'a config map with a bad key': ['configmaps', { data: { 'a b': 'x' } }],
    'a config map with one key twice': ['configmaps', { data: { a: 'x' }, binaryData: { a: 'eA==' } }],
    'a config map with bad bytes': ['configmaps', { binaryData: { a: '!' } }],
    'a config map that is too large': ['configmaps', { data: { a: 'x'.repeat(1_100_000) } }],
    'a secret with bad bytes': ['secrets', { data: { a: '!' } }],
    'a secret with a bad key': ['secrets', { data: { 'a b': 'eA==' } }],
    'a secret that is too large': ['secrets', { stringData: { a: 'x'.repeat(1_100_000) } }],
    'a TLS secret without a key': ['secrets', { type: 'kubernetes.io/tls' }],
    'a docker secret without its data': ['secrets', { type: 'kubernetes.io/dockerconfigjson' }],
    'a docker secret that is no JSON': [
      'secrets',
      { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'x' } },
    ],
    'a secret with a password only': [
      'secrets',
      { type: 'kubernetes.io/basic-auth', stringData: { password: 'x' } },
    ],
    'a basic secret without anything': ['secrets', { type: 'kubernetes.io/basic-auth' }],
    'an ssh secret without a key': ['secrets', { type: 'kubernetes.io/ssh-auth' }],
    'a token secret without an account': ['secrets', { type: 'kubernetes.io/service-account-token' }],
    'an event of another namespace': ['events', { involvedObject: { namespace: 'default' } }],
    'a claim without a size': ['persistentvolumeclaims', { spec: { accessModes: ['ReadWriteOnce'] } }],
    'a claim without modes': [
      'persistentvolumeclaims',
      { spec: { resources: { requests: { storage: '1Gi' } } } },
    ],
    'a claim of an unknown mode': [
      'persistentvolumeclaims',
      { spec: { accessModes: ['Nonsense'], resources: { requests: { storage: '1Gi' } } } },
    ],
    'a claim of nothing': [
      'persistentvolumeclaims',
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '0' } } } },
    ],
    'a lease with a bad duration': [
      'coordination.k8s.io/v1/leases',
      { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
    ],
    'a lease with a bad time': ['coordination.k8s.io/v1/leases', { spec: { renewTime: 'x' } }],
    'a policy with an unknown type': [
      'networking.k8s.io/v1/networkpolicies',
      { spec: { podSelector: {}, policyTypes: ['Nonsense'] } },
    ],
    'a policy with a bad block': [
      'networking.k8s.io/v1/networkpolicies',
      { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: 'x' } }] }] } },
    ],
    'a policy with an exception outside its block': [
      'networking.k8s.io/v1/networkpolicies',
      {
        spec: {
          podSelector: {},
          ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/24', except: ['11.0.0.0/24'] } }] }],
        },
      },
    ],
    'a policy with two kinds of peer': [
      'networking.k8s.io/v1/networkpolicies',
      {
        spec: {
          podSelector: {},
          ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }] }],
        },
      },
    ],
    'a policy with a bad selector': [
      'networking.k8s.io/v1/networkpolicies',
      { spec: { podSelector: { matchExpressions: [{ key: 'a', operator: 'Nonsense' }] } } },
    ],
    'a policy with a bad port': [
      'networking.k8s.io/v1/networkpolicies',
      { spec: { podSelector: {}, ingress: [{ ports: [{ port: 0 }, { port: 80, endPort: 79 }] }] } },
    ],
    'a budget of two kinds': [
      'policy/v1/poddisruptionbudgets',
      { spec: { minAvailable: 1, maxUnavailable: 1, selector: {} } },
    ],
    'a budget below zero': ['policy/v1/poddisruptionbudgets', { spec: { minAvailable: -1, selector: {} } }],
    'a budget above all': [
      'policy/v1/poddisruptionbudgets',
      { spec: { minAvailable: '110%', selector: {} } },
    ],
    'a budget of nonsense': ['policy/v1/poddisruptionbudgets', { spec: { minAvailable: 'x', selector: {} } }],
    'a budget with a bad selector': [
      'policy/v1/poddisruptionbudgets',
      { spec: { minAvailable: 1, selector: { matchLabels: { 'a b': 'c' } } } },
    ],
    'a role without verbs': [
      `${rbac}/v1/roles`,
      { rules: [{ apiGroups: [''], resources: ['pods'], verbs: [] }] },
    ],
    'a role with paths': [`${rbac}/v1/roles`, { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] }],
    'a role without resources': [`${rbac}/v1/roles`, { rules: [{ verbs: ['get'] }] }],
    'a binding without a role': [`${rbac}/v1/rolebindings`, {}],
    'a binding of an unknown kind': [
      `${rbac}/v1/rolebindings`,
      { roleRef: { apiGroup: rbac, kind: 'Pod', name: 'x' }, subjects: [{ kind: 'Pod', name: 'x' }] },
    ],
    'a binding to an account without a name': [
      `${rbac}/v1/rolebindings`,
      {
        roleRef: { apiGroup: rbac, kind: 'Role', name: 'x' },
        subjects: [{ kind: 'ServiceAccount', name: '' }],
      },
    ],
    'a slice without a type': ['discovery.k8s.io/v1/endpointslices', { endpoints: [] }],
    'a slice with a bad address': [
      'discovery.k8s.io/v1/endpointslices',
      { addressType: 'IPv4', endpoints: [{ addresses: ['x'] }] },
    ],
    'a slice with two ports of one name': [
      'discovery.k8s.io/v1/endpointslices',
      { addressType: 'IPv4', endpoints: [], ports: [{ port: 1 }, { port: 2 }] },
    ],
  };
  for (const [what, [path, fields]] of Object.entries(wrong)) {
    add(
      `${what}`,
      async (s) => void (await s.post(s.in(path), { metadata: meta, ...fields }, { show: verdict })),
    );
  }
  const wideWrong: Readonly<Record<string, readonly [path: string, body: JsonRecord]>> = {
    'a node with a bad taint': ['/api/v1/nodes', { spec: { taints: [{ key: 'a b', effect: 'Nonsense' }] } }],
    'a volume without a source': [
      '/api/v1/persistentvolumes',
      { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] } },
    ],
    'a volume without a size': [
      '/api/v1/persistentvolumes',
      { spec: { accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } },
    ],
    'a storage class without a provisioner': ['/apis/storage.k8s.io/v1/storageclasses', {}],
    'a storage class with a bad policy': [
      '/apis/storage.k8s.io/v1/storageclasses',
      { provisioner: 'x', reclaimPolicy: 'Nonsense', volumeBindingMode: 'Nonsense' },
    ],
    'a runtime class without a handler': ['/apis/node.k8s.io/v1/runtimeclasses', {}],
    'a runtime class with a bad handler': ['/apis/node.k8s.io/v1/runtimeclasses', { handler: 'A_b' }],
    "a priority class above the system's": [
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      { value: 2_000_000_000 },
    ],
    'a cluster role with both kinds of rule': [
      `/apis/${rbac}/v1/clusterroles`,
      { rules: [{ apiGroups: [''], resources: ['pods'], nonResourceURLs: ['/x'], verbs: ['get'] }] },
    ],
    'a cluster binding to a role': [
      `/apis/${rbac}/v1/clusterrolebindings`,
      { roleRef: { apiGroup: rbac, kind: 'Role', name: 'x' } },
    ],
  };
  for (const [what, [path, fields]] of Object.entries(wideWrong)) {
    add(
      `${what}`,
      async (s) =>
        void (await s.post(path, { metadata: { name: `n-${s.id}` }, ...fields }, { show: verdict })),
      { namespace: 'none' },
    );
  }

  add('stringData becomes data', async (s) => {
    await s.post(s.in('secrets'), secret('a', { data: { a: 'eA==', b: 'eQ==' }, stringData: { b: 'z' } }));
    await s.patch('merge', s.in('secrets', 'a'), { stringData: { c: 'new' }, data: { a: null } });
  });
  add('data without bytes', async (s) => {
    await s.post(s.in('secrets'), secret('a', { data: { a: null, b: '' } }));
    await s.post(s.in('configmaps'), { ...configMap('a'), binaryData: { b: '' } });
  });
  add('an event in both groups', async (s) => {
    await s.prepare('POST', s.in('events'), {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'a' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: s.namespace },
      reason: 'R',
      message: 'M',
      type: 'Normal',
      count: 2,
      firstTimestamp: '2020-01-01T00:00:00Z',
      lastTimestamp: '2020-01-01T00:00:01Z',
      source: { component: 'c', host: 'h' },
    });
    await s.get(s.in('events.k8s.io/v1/events', 'a'));
    await s.post(s.in('events.k8s.io/v1/events'), {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'b' },
      eventTime: '2020-01-01T00:00:00.000000Z',
      action: 'A',
      reason: 'R',
      type: 'Normal',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      regarding: { kind: 'Pod', name: 'p', namespace: s.namespace },
      note: 'N',
    });
    await s.get(s.in('events', 'b'));
    await s.post(s.in('events.k8s.io/v1/events'), {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'c' },
      regarding: { namespace: s.namespace },
    });
    await s.get(s.in('events'), {
      query: { fieldSelector: 'involvedObject.name=p,reason=R' },
      show: (body) => (at(body, 'items') as JsonRecord[]).map((one) => at(one, 'metadata', 'name')),
    });
  });
  add('updates of a claim', async (s) => {
    await s.prepare('POST', s.in('persistentvolumeclaims'), (good['a claim'] as Sample).body);
    await s.patch(
      'merge',
      s.in('persistentvolumeclaims', 'a'),
      { spec: { resources: { requests: { storage: '2Gi' } } } },
      {
        show: (body) => ({
          ...(body as object),
          message: String(at(body, 'message')).split('\n')[0],
          details: undefined,
        }),
      },
    );
    await s.patch(
      'merge',
      s.in('persistentvolumeclaims', 'a'),
      { spec: { volumeName: 'v' } },
      { show: (body) => at(body, 'spec', 'volumeName') ?? at(body, 'code') },
    );
  });
  add('a role reference cannot change', async (s) => {
    const { path, body } = good['a role binding'] as Sample;
    await s.prepare('POST', s.in(path), body);
    await s.patch('merge', s.in(path, 'a'), { roleRef: { name: 'other' } });
  });
  add('updates of a lease', async (s) => {
    const { path, body } = good['a lease'] as Sample;
    await s.prepare('POST', s.in(path), body);
    await s.patch('merge', s.in(path, 'a'), {
      spec: { renewTime: '2020-01-01T00:00:05.123456Z', leaseTransitions: 3 },
    });
    await s.put(s.in(path, 'a'), body);
  });
  add(
    'the status of a node',
    async (s) => {
      const path = `/api/v1/nodes/n-${s.id}`;
      await s.prepare('POST', '/api/v1/nodes', { metadata: { name: `n-${s.id}` } });
      s.afterwards(() => s.prepare('DELETE', path));
      await s.patch(
        'merge',
        `${path}/status`,
        {
          status: {
            conditions: [{ type: 'Ready', status: 'True' }],
            addresses: [{ type: 'InternalIP', address: '10.1.1.1' }],
          },
        },
        { show: (body) => ({ ...(at(body, 'status') as object) }) },
      );
      await s.patch(
        'merge',
        path,
        { spec: { unschedulable: true, taints: [{ key: 'k', effect: 'NoSchedule' }] } },
        { show: (body) => at(body, 'spec') },
      );
      await s.patch(
        'merge',
        path,
        { status: { phase: 'Running' } },
        { show: (body) => at(body, 'status', 'phase') ?? 'none' },
      );
    },
    { namespace: 'none' },
  );
  add(
    'a priority class is fixed',
    async (s) => {
      const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
      await s.prepare('POST', path, { metadata: { name: `n-${s.id}` }, value: 1 });
      s.afterwards(() => s.prepare('DELETE', `${path}/n-${s.id}`));
      await s.patch('merge', `${path}/n-${s.id}`, { value: 2 });
    },
    { namespace: 'none' },
  );
  add(
    'a runtime class is fixed',
    async (s) => {
      const path = '/apis/node.k8s.io/v1/runtimeclasses';
      await s.prepare('POST', path, { metadata: { name: `n-${s.id}` }, handler: 'a' });
      s.afterwards(() => s.prepare('DELETE', `${path}/n-${s.id}`));
      await s.patch('merge', `${path}/n-${s.id}`, { handler: 'b' });
    },
    { namespace: 'none' },
  );
});

export const reviewCases = area('reviews', (add) => {
  const self = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const subject = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const show = (body: unknown) =>
    at(body, 'kind') === 'Status'
      ? body
      : { metadata: at(body, 'metadata'), spec: at(body, 'spec'), allowed: at(body, 'status', 'allowed') };
  const none = { namespace: 'none' } as const;
  add(
    'what the administrator may do',
    async (s) => {
      await s.post(
        self,
        { spec: { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'default' } } },
        { show },
      );
      await s.post(self, { spec: { nonResourceAttributes: { verb: 'get', path: '/x' } } }, { show });
    },
    none,
  );
  add(
    'what nobody in particular may do',
    async (s) => {
      await s.post(
        subject,
        {
          spec: {
            user: 'somebody',
            resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' },
          },
        },
        { show },
      );
      await s.post(
        subject,
        {
          spec: {
            user: 'somebody',
            groups: ['system:masters'],
            resourceAttributes: { verb: 'get', resource: 'pods' },
          },
        },
        { show },
      );
      await s.post(
        subject,
        {
          spec: {
            user: 'somebody',
            groups: ['system:authenticated'],
            nonResourceAttributes: { verb: 'get', path: '/version' },
          },
        },
        { show },
      );
    },
    none,
  );
  add(
    'a review that asks nothing',
    async (s) => {
      await s.post(subject, { spec: { user: 'x' } });
      await s.post(subject, { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } });
      await s.post(subject, { spec: { user: 'x', resourceAttributes: {}, nonResourceAttributes: {} } });
      await s.post(self, { spec: {} });
    },
    none,
  );
  add(
    'a token nobody has',
    async (s) => {
      await s.post(
        '/apis/authentication.k8s.io/v1/tokenreviews',
        { spec: { token: 'nonsense' } },
        {
          show: (body) => ({
            metadata: at(body, 'metadata'),
            authenticated: at(body, 'status', 'authenticated') ?? false,
          }),
        },
      );
      await s.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: {} }, { show: verdict });
    },
    none,
  );
  add(
    'a review cannot be read',
    async (s) => {
      await s.get(self);
      await s.get(`${self}/x`);
      await s.delete(self);
    },
    none,
  );
});
