/** Names of regions for databases. They are stored and shown; the data stays where this server runs. */
const AWS_REGIONS = [
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
  'ca-central-1',
  'eu-central-1',
  'eu-west-1',
  'eu-west-2',
  'sa-east-1',
  'ap-south-1',
  'ap-northeast-1',
  'ap-southeast-1',
  'ap-southeast-2',
  'af-south-1',
] as const;
const GCP_REGIONS = ['us-central1', 'us-east4', 'europe-west1', 'asia-northeast1'] as const;
export const PLATFORMS = ['aws', 'gcp'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** Regions of read replicas. */
export const READ_REGIONS: readonly string[] = AWS_REGIONS.filter((region) => region !== 'af-south-1');
/** The region of a database that has a primary region and read regions. */
export const GLOBAL = 'global';

const BY_PLATFORM: Readonly<Record<Platform, readonly string[]>> = { aws: AWS_REGIONS, gcp: GCP_REGIONS };

export function isRegion(text: string, platform?: Platform): boolean {
  const regions = platform === undefined ? [...AWS_REGIONS, ...GCP_REGIONS] : BY_PLATFORM[platform];
  return (regions as readonly string[]).includes(text);
}
