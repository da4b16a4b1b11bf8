/** Where clients find a database, and what opens it. */
import type { ShownDatabase } from '../records.js';

export interface DatabaseAddresses {
  /** Of the REST face. */
  readonly restUrl: string;
  readonly host: string;
  readonly port: number;
  /** Of Redis's protocol, with its password. */
  readonly nativeUrl: string;
  readonly isTls: boolean;
  readonly password: string;
  readonly token: string;
  readonly readOnlyToken: string;
}

/** Shown in place of what is not to be seen. */
const HIDDEN = '••••••••';

/** All faces of a server have TLS, or none: so it is with this page. @param isOpen secrets are in it, else dots */
export function addressesOf(database: ShownDatabase, isOpen: boolean): DatabaseAddresses {
  const isTls = location.protocol === 'https:';
  const host = new URL(`http://${database.endpoint}`).hostname;
  const shown = (secret = '') => (isOpen ? secret : HIDDEN);
  const password = shown(database.password);
  const written = isOpen ? encodeURIComponent(password) : password;
  return {
    restUrl: `${isTls ? 'https' : 'http'}://${database.endpoint}`,
    host,
    port: database.port,
    nativeUrl: `${isTls ? 'rediss' : 'redis'}://default:${written}@${host}:${database.port}`,
    isTls,
    password,
    token: shown(database.rest_token),
    readOnlyToken: shown(database.read_only_rest_token),
  };
}

/** What begins a line in a terminal; the password is in the environment. */
export function clientLine(database: ShownDatabase): string {
  const { host, port, isTls } = addressesOf(database, false);
  return `redis-cli ${isTls ? '--tls ' : ''}-h ${host} -p ${port}`;
}
