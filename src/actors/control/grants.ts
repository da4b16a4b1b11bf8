/**
 * Grants of tokens and passwords, looked up in a copy of the control state. It keeps only how each grant was found, to
 * repeat the lookup after a change.
 */
import type { AclUserRecord, ControlState, Database } from '../../domain/control/index.js';
import {
  AclUser,
  DEFAULT_USER,
  permissionsOf,
  READ_ONLY_USER,
  RULES_OF_READ_ONLY,
  RuleError,
  readOnlyPermissions,
} from '../../domain/kv/index.js';
import type { ByteString, DatabaseId } from '../../kernel/index.js';
import type { KvGrant, KvLimits } from '../../ports/index.js';
import { hashPassword, hashSecret, kvPartitions, ownerOfGeneratedToken } from '../../protocol/index.js';
import { allowedNetworks } from './allowed-networks.js';

interface Origin {
  readonly lookUp: () => KvGrant | undefined;
  /** The version of the state for which the grant was last checked. */
  version: number;
}

export class Grants {
  readonly #origins = new WeakMap<KvGrant, Origin>();

  constructor(
    private readonly state: () => ControlState,
    private readonly version: () => number,
  ) {}

  ofToken(token: string): KvGrant | undefined {
    return this.#remember(() => this.#lookUpToken(token));
  }

  ofLogin(user: string | undefined, password: ByteString): KvGrant | undefined {
    const sha256 = hashPassword(password);
    return this.#remember(() => this.#lookUpLogin(user, sha256));
  }

  renewed(grant: KvGrant): KvGrant | undefined {
    const origin = this.#origins.get(grant);
    if (origin === undefined) return undefined;
    const version = this.version();
    if (origin.version === version) return grant;
    const now = origin.lookUp();
    if (now === undefined) return undefined;
    if (isSame(now, grant)) {
      origin.version = version;
      return grant;
    }
    this.#origins.set(now, { lookUp: origin.lookUp, version });
    return now;
  }

  #remember(lookUp: () => KvGrant | undefined): KvGrant | undefined {
    const grant = lookUp();
    if (grant !== undefined) this.#origins.set(grant, { lookUp, version: this.version() });
    return grant;
  }

  #lookUpToken(token: string): KvGrant | undefined {
    const state = this.state();
    const sha256 = hashSecret(token);
    const owner = state.tokens.get(sha256);
    if (owner !== undefined) {
      const database = state.live(owner.database);
      if (database === undefined) return undefined;
      return owner.role === 'standard' ? grantOfDefault(database) : grantOfReaders(database);
    }
    const issued = state.userTokens.get(sha256);
    if (issued !== undefined) return this.#grantOf(issued.database, issued.user, issued.password);
    const generated = ownerOfGeneratedToken(token);
    return generated === undefined ? undefined : this.#grantOf(generated.database, generated.user, sha256, false);
  }

  #lookUpLogin(name: string | undefined, sha256: string): KvGrant | undefined {
    const state = this.state();
    if (name === undefined || name === DEFAULT_USER) {
      const id = state.passwords.get(sha256);
      const database = id === undefined ? undefined : state.live(id);
      return database === undefined ? undefined : grantOfDefault(database);
    }
    const slash = name.indexOf('/');
    const id = name.slice(0, Math.max(0, slash)) as DatabaseId;
    if (slash > 0 && state.live(id) !== undefined) return this.#grantOf(id, name.slice(slash + 1), sha256);
    const first = state.firstStart?.database;
    return first === undefined ? undefined : this.#grantOf(first, name, sha256);
  }

  /**
   * @param mayBeOpen true when a user without a password requirement counts; false for a token that only names a user
   */
  #grantOf(id: DatabaseId, name: ByteString, sha256: string, mayBeOpen = true): KvGrant | undefined {
    const state = this.state();
    const database = state.live(id);
    if (database === undefined) return undefined;
    if (name === DEFAULT_USER) return state.isPasswordOf(id, name, sha256) ? grantOfDefault(database) : undefined;
    const record = state.userOf(id, name);
    if (record === undefined) return undefined;
    const user = readUser(record);
    if (user?.isOn !== true) return undefined;
    if (!record.passwords.includes(sha256) && !(user.isOpen && mayBeOpen)) return undefined;
    return grantOfUser(database, record);
  }
}

/** Undefined for rules of a later release, which must not be applied in part. */
function readUser({ rules }: AclUserRecord): AclUser | undefined {
  try {
    return AclUser.of(rules);
  } catch (error) {
    if (error instanceof RuleError) return undefined;
    throw error;
  }
}

function grantOfDefault(database: Database): KvGrant {
  return grantOf(database, 'standard', DEFAULT_USER, undefined, undefined);
}

function grantOfReaders(database: Database): KvGrant {
  return grantOf(database, 'read-only', READ_ONLY_USER, readOnlyPermissions(), RULES_OF_READ_ONLY);
}

function grantOfUser(database: Database, { name, rules }: AclUserRecord): KvGrant {
  const permissions = permissionsOf(rules, name);
  return grantOf(database, 'standard', name, permissions, permissions === undefined ? undefined : rules);
}

/**
 * A suspended database is still found by its secrets, so that its users are told the reason of the refusal. The object
 * is built with literal fields: each command reads it several times, and objects made by spreading have different
 * shapes and are slow.
 */
function grantOf(
  database: Database,
  role: KvGrant['role'],
  user: string,
  permissions: KvGrant['permissions'],
  rules: string | undefined,
): KvGrant {
  const { id, isCluster, firstPartition, limits, settings } = database;
  return {
    database: id,
    partitions: kvPartitions(id, database),
    isCluster,
    firstPartition,
    role,
    user,
    permissions,
    rules,
    limits,
    networks: allowedNetworks(settings?.allowedIps),
    isSuspended: settings?.isSuspended === true ? true : undefined,
  };
}

function isSame(one: KvGrant, other: KvGrant): boolean {
  if (one.partitions[0] !== other.partitions[0] || one.partitions.length !== other.partitions.length) return false;
  return opensTheSame(one, other) && LIMITS_OF_EDGES.every((name) => one.limits[name] === other.limits[name]);
}

/**
 * True when both grants give the same user the same rights from the same addresses; limits and partitions may differ.
 * The cluster mode never changes.
 */
export function opensTheSame(one: KvGrant, other: KvGrant): boolean {
  return (
    one.database === other.database &&
    one.role === other.role &&
    one.user === other.user &&
    one.rules === other.rules &&
    one.isSuspended === other.isSuspended &&
    one.networks?.text === other.networks?.text
  );
}

const LIMITS_OF_EDGES: readonly (keyof KvLimits)[] = [
  'maxCommandBytes',
  'maxRequestsPerDay',
  'maxCommandsPerSecond',
  'maxBytesPerMonth',
  'maxConnections',
];
