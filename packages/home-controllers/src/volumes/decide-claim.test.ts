import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimAction, decideClaim, type ObservedClaim } from './decide-claim.ts';
import { bindCompleted, selectedNode } from './match.ts';
import { aClaim, aClass, aVolume, tiedTo } from './test-objects.ts';

const waiting = aClass('fast', { volumeBindingMode: 'WaitForFirstConsumer' });
const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
const completed = (volumeName?: string) => ({
  metadata: { annotations: { [bindCompleted]: 'yes' } },
  spec: volumeName === undefined ? {} : { volumeName },
  status: { phase: 'Bound' as const },
});
const { storageClassName: _, ...classless } = aClaim().spec;

/** `type`, and what it is about. */
function brief(action: ClaimAction): string {
  switch (action.type) {
    case 'bind':
      return `bind ${action.volume.metadata.name}`;
    case 'assign-class':
      return `assign-class ${action.className}`;
    case 'provision':
      return `provision ${action.storageClass.metadata.name}`;
    case 'call-provisioner':
      return `call-provisioner ${action.provisioner}`;
    case 'write-phase':
      return `write-phase ${action.phase}`;
    case 'tell':
      return `tell ${action.note.reason}`;
  }
}

const cases: { name: string; given: Partial<ObservedClaim>; want: string[] }[] = [
  { name: 'a volume that fits is taken', given: { volumes: [aVolume()] }, want: ['bind volume'] },
  {
    name: 'a class that makes volumes at once makes one',
    given: { storageClasses: [aClass('fast')], provisioner: 'example.test/maker' },
    want: ['provision fast'],
  },
  {
    name: 'a class of somebody else calls them',
    given: { storageClasses: [aClass('fast')] },
    want: ['call-provisioner example.test/maker', 'tell ExternalProvisioning'],
  },
  {
    name: 'a class nobody makes volumes of waits for one',
    given: { storageClasses: [aClass('fast', { provisioner: 'kubernetes.io/no-provisioner' })] },
    want: ['tell ProvisioningFailed'],
  },
  { name: 'a class that is not there is told of', given: {}, want: ['tell ProvisioningFailed'] },
  {
    name: 'without a class only a volume helps',
    given: { claim: aClaim({ spec: { storageClassName: '' } }), storageClasses: [aClass('fast')] },
    want: ['tell FailedBinding'],
  },
  {
    name: 'a claim that names no class is given the default one, the youngest of several',
    given: {
      claim: { ...aClaim(), spec: classless },
      storageClasses: [
        aClass('old', { metadata: { annotations: isDefault, creationTimestamp: '2029-01-01T00:00:00Z' } }),
        aClass('new', { metadata: { annotations: isDefault } }),
        aClass('plain', { metadata: { creationTimestamp: '2031-01-01T00:00:00Z' } }),
      ],
    },
    want: ['assign-class new'],
  },
  {
    name: 'a claim that waits for its pod takes nothing before, not even what fits',
    given: { storageClasses: [waiting], volumes: [aVolume()], provisioner: waiting.provisioner },
    want: ['tell WaitForFirstConsumer'],
  },
  {
    name: 'it says which pod it waits for',
    given: { storageClasses: [waiting], waitingPods: ['a', 'b'] },
    want: ['tell WaitForPodScheduled'],
  },
  {
    name: 'when the node is known its volume is made',
    given: {
      claim: aClaim({ metadata: { annotations: { [selectedNode]: 'n1' } } }),
      storageClasses: [waiting],
      provisioner: waiting.provisioner,
    },
    want: ['provision fast'],
  },
  {
    name: 'what the scheduler reserved is taken',
    given: { storageClasses: [waiting], volumes: [aVolume({ spec: { claimRef: tiedTo(aClaim()) } })] },
    want: ['bind volume'],
  },
  {
    name: 'a volume by name is taken, whether or not it is reserved',
    given: { claim: aClaim({ spec: { volumeName: 'volume' } }), volumes: [aVolume()] },
    want: ['bind volume'],
  },
  {
    name: 'a volume by name that does not exist yet is waited for in silence',
    given: { claim: aClaim({ spec: { volumeName: 'volume' } }) },
    want: [],
  },
  {
    name: 'a volume by name that does not suit is told of',
    given: {
      claim: aClaim({ spec: { volumeName: 'volume' } }),
      volumes: [aVolume({ spec: { capacity: { storage: '1' } } })],
    },
    want: ['tell VolumeMismatch'],
  },
  {
    name: 'a volume by name that is somebody else’s is told of',
    given: {
      claim: aClaim({ spec: { volumeName: 'volume' } }),
      volumes: [aVolume({ spec: { claimRef: tiedTo(aClaim({ metadata: { name: 'other' } })) } })],
    },
    want: ['tell FailedBinding'],
  },
  {
    name: 'a bond that broke off is finished',
    given: {
      claim: aClaim(completed('volume')),
      volumes: [aVolume({ spec: { claimRef: tiedTo(aClaim()) } })],
    },
    want: ['bind volume'],
  },
  {
    name: 'a claim whose volume is gone is lost',
    given: { claim: aClaim(completed('volume')) },
    want: ['write-phase Lost', 'tell ClaimLost'],
  },
  {
    name: 'a claim whose volume went to another is lost',
    given: {
      claim: aClaim(completed('volume')),
      volumes: [aVolume({ spec: { claimRef: tiedTo(aClaim(), 'another') } })],
    },
    want: ['write-phase Lost', 'tell ClaimMisbound'],
  },
  {
    name: 'what is lost is told once',
    given: { claim: aClaim({ ...completed('volume'), status: { phase: 'Lost' } }) },
    want: [],
  },
  {
    name: 'a claim on its way out gets nothing any more',
    given: {
      claim: aClaim({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }),
      volumes: [aVolume()],
    },
    want: [],
  },
  {
    name: 'a claim without a phase is pending',
    given: { claim: aClaim({ status: {} }) },
    want: ['tell ProvisioningFailed', 'write-phase Pending'],
  },
];
for (const { name, given, want } of cases) {
  test(name, () => {
    const nothing = { volumes: [], storageClasses: [], waitingPods: [], provisioner: undefined };
    const actions = decideClaim({ claim: aClaim(), ...nothing, ...given });
    assert.deepEqual(actions.map(brief), want);
  });
}
