/** The errors for invalid rules of ACL SETUSER, in Redis's words. */
export class RuleError extends Error {}

const ALL_KEYS_HINT =
  "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. " +
  "Try 'resetkeys' to start with an empty list of patterns";
const ALL_CHANNELS_HINT =
  "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. " +
  "Try 'resetchannels' to start with an empty list of channels";

export const RULE_ERRORS = {
  syntax: () => new RuleError('Syntax error'),
  patternTooLong: () => new RuleError('The pattern is too long'),
  unknownCommand: () => new RuleError('Unknown command or category name in ACL'),
  afterAllKeys: () => new RuleError(ALL_KEYS_HINT),
  afterAllChannels: () => new RuleError(ALL_CHANNELS_HINT),
  noSuchPassword: () => new RuleError('The password you are trying to remove from the user does not exist'),
  badHash: () =>
    new RuleError('The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters'),
  firstArgOfSubcommand: () => new RuleError('Allowing first-arg of a subcommand is not supported'),
} as const;
