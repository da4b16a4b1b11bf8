/** The addresses and credentials of a database for clients. */
import { MASKED_SECRET } from '../../../parts/secret-line.js';
import type { DatabaseView } from '../records.js';

export interface DatabaseAddresses {
  /** Of the REST endpoint. */
  readonly restUrl: string;
  readonly host: string;
  readonly port: number;
  /** Of RESP, with the password. */
  readonly nativeUrl: string;
  readonly isTls: boolean;
  readonly password: string;
  readonly token: string;
  readonly readOnlyToken: string;
  /** A read-only key sees only the read-only token. */
  readonly isReadOnly: boolean;
}

/** Shown instead of a hidden secret. */
const HIDDEN = '••••••••';

/**
 * All endpoints of a server use TLS or none does, so this page's protocol decides. @param isOpen shows secrets
 * instead of dots
 */
export function addressesOf(database: DatabaseView, isOpen: boolean): DatabaseAddresses {
  const isTls = location.protocol === 'https:';
  const host = new URL(`http://${database.endpoint}`).hostname;
  const isReadOnly = database.rest_token === MASKED_SECRET;
  const shown = (secret = '') => (isOpen && secret !== MASKED_SECRET ? secret : HIDDEN);
  const password = shown(database.password);
  const written = isOpen && !isReadOnly ? encodeURIComponent(password) : password;
  return {
    restUrl: `${isTls ? 'https' : 'http'}://${database.endpoint}`,
    host,
    port: database.port,
    nativeUrl: `${isTls ? 'rediss' : 'redis'}://default:${written}@${host}:${database.port}`,
    isTls,
    password,
    token: shown(isReadOnly ? database.read_only_rest_token : database.rest_token),
    readOnlyToken: shown(database.read_only_rest_token),
    isReadOnly,
  };
}

/** The start of a redis-cli command; the password comes from the environment. */
export function clientLine(database: DatabaseView): string {
  const { host, port, isTls } = addressesOf(database, false);
  return `redis-cli ${isTls ? '--tls ' : ''}-h ${host} -p ${port}`;
}
