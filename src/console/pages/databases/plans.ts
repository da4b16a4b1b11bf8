/** Plans and regions of databases: the API's names and their labels. */

export const PLANS = [
  ['payg', 'Pay as you go'],
  ['free', 'Free'],
  ['fixed_250mb', 'Fixed 250 MB'],
  ['fixed_1gb', 'Fixed 1 GB'],
  ['fixed_5gb', 'Fixed 5 GB'],
  ['fixed_10gb', 'Fixed 10 GB'],
  ['fixed_50gb', 'Fixed 50 GB'],
  ['fixed_100gb', 'Fixed 100 GB'],
  ['fixed_500gb', 'Fixed 500 GB'],
] as const;

/** Only stored in the record: the data is where the server runs. */
export const REGIONS = [
  'eu-west-1',
  'eu-west-2',
  'eu-central-1',
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
  'ca-central-1',
  'sa-east-1',
  'ap-south-1',
  'ap-northeast-1',
  'ap-southeast-1',
  'ap-southeast-2',
] as const;
