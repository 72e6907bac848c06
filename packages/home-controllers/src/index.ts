// The whole surface of @hutch/home-controllers.
export { type HomeControllerOptions, runHomeControllers } from './run.ts';
export type { ProvisionedVolume, VolumeProvisioner, VolumeRequest } from './volumes/provisioner.ts';
