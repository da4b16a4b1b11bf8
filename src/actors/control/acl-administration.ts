/** Reads ACL users from this process's copy, and sends changes of them to the control actor for a decision. */
import {
  type AclUserRecord,
  type ControlCommand,
  type ControlReply,
  type ControlState,
  MAX_USER_NAME_BYTES,
} from '../../domain/control/index.js';
import { AclUser, DEFAULT_USER } from '../../domain/kv/index.js';
import { type ByteString, type DatabaseId, MillraceError, type Random } from '../../kernel/index.js';
import type { AclAdmin, AclUserChange } from '../../ports/index.js';
import {
  generatedUserToken,
  hashPassword,
  hashSecret,
  issuedUserToken,
  ownerOfGeneratedToken,
} from '../../protocol/index.js';
import type { ControlClient, ReplyOf } from './control-client.js';

/** Simultaneous changes of one user are retried; more tries than this show an overload. */
const MAX_TRIES = 20;
const SALT_BYTES = 16;

export class AclAdministration implements AclAdmin {
  constructor(
    private readonly client: ControlClient,
    /** This process's copy. */
    private readonly view: { readonly state: ControlState },
    private readonly random: Random,
  ) {}

  users(database: DatabaseId): readonly AclUserRecord[] {
    return this.view.state.usersOf(database).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  user(database: DatabaseId, name: ByteString): AclUserRecord | undefined {
    return this.view.state.userOf(database, name);
  }

  defaultPassword(database: DatabaseId): string | undefined {
    return this.view.state.live(database)?.secrets?.password.sha256;
  }

  async setUser(
    database: DatabaseId,
    name: ByteString,
    change: (before: AclUserRecord | undefined) => AclUserChange,
  ): Promise<string | undefined> {
    const newSalt = Buffer.from(this.random.bytes(SALT_BYTES)).toString('hex');
    let before = this.user(database, name);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const wanted = change(before);
      const seenRevision = before?.revision ?? 0;
      const salt = before?.salt ?? newSalt;
      const reply = await this.client.send({ type: 'SetUser', database, seenRevision, name, salt, ...wanted });
      if (reply.type === 'Rejected') return reply.message;
      const { isSet, user } = expected(reply, 'UserIs');
      if (isSet) return undefined;
      before = user;
    }
    return 'the user is being changed by another request';
  }

  async deleteUser(database: DatabaseId, name: ByteString): Promise<boolean> {
    const reply = await this.client.send({ type: 'DeleteUser', database, name });
    return expected(reply, 'UserIsGone').wasThere;
  }

  async restToken(database: DatabaseId, user: ByteString, password: ByteString): Promise<string | undefined> {
    if (user.length > MAX_USER_NAME_BYTES) return undefined;
    const hash = hashPassword(password);
    if (!this.#isGood(database, user, hash)) return undefined;
    const owner = ownerOfGeneratedToken(password);
    if (owner?.database === database && owner.user === user) return password;
    // The user `default` has no record to hold a salt: its password is the database's.
    const salt = user === DEFAULT_USER ? '' : (this.user(database, user)?.salt ?? '');
    const token = issuedUserToken(database, user, salt, password);
    const command: ControlCommand = {
      type: 'IssueUserToken',
      token: { database, user, password: hash, sha256: hashSecret(token) },
    };
    const reply = await this.client.send(command);
    // The user was changed in the meantime.
    if (reply.type === 'Rejected') return undefined;
    expected(reply, 'UserTokenIsIssued');
    return token;
  }

  newToken(database: DatabaseId, user: ByteString, secret: ByteString | undefined): string {
    return generatedUserToken(database, user, secret, this.random);
  }

  hashOf(password: ByteString): string {
    return hashPassword(password);
  }

  #isGood(database: DatabaseId, user: ByteString, hash: string): boolean {
    if (!this.view.state.isPasswordOf(database, user, hash)) return false;
    if (user === DEFAULT_USER) return true;
    return AclUser.of(this.user(database, user)?.rules ?? '').isOn;
  }
}

function expected<Type extends ControlReply['type']>(reply: ControlReply, type: Type): ReplyOf<Type> {
  if (reply.type === type) return reply as ReplyOf<Type>;
  const message = reply.type === 'Rejected' ? reply.message : `it answered ${reply.type}`;
  throw new MillraceError('CONFLICT', `the control actor refused: ${message}`);
}
