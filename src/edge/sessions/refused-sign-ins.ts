/**
 * Refused sign-ins of people, as lines of the audit log of the first account.
 *
 *  RSI1 the first refusal of an address for a reason in an hour has its own line, with source, name, address and reason
 *  RSI2 an hour has at most MAX_LINES such lines of a process, and one line at its end with the number of all other
 *       refusals: an attacker cannot displace the other entries of the log
 */
import { type AuditNote, auditActionNumber } from '../../domain/control/index.js';
import { type AccountId, describeError } from '../../kernel/index.js';
import type { Log, ManagementControl, Timers } from '../../ports/index.js';
import { askControl } from '../control-asking.js';

const HOUR_MS = 3_600_000;
/** With the line at the end of an hour at most 312 lines a day: those of three days fit into the account's log. */
export const MAX_LINES = 12;
/** Characters of a name, which anyone can choose. */
const MAX_NAME_CHARACTERS = 64;
const MAX_REASON_CHARACTERS = 128;
/** Addresses, and addresses with reasons, of which the first refusal is recognised; about 2 MB. */
const MAX_ADDRESSES = 10_000;

export interface RefusedSignInPorts {
  readonly control: ManagementControl;
  readonly timers: Timers;
  readonly log: Log;
  /** Undefined before this process knows it. */
  firstAccount(): AccountId | undefined;
}

/** One refused sign-in. */
export interface RefusedSignIn {
  /** `console`, `management`, `PROVIDER - sso` */
  readonly source: string;
  readonly address: string;
  readonly name?: string | undefined;
  readonly reason: string;
}

export class RefusedSignIns {
  readonly #addresses = new Set<string>();
  readonly #seen = new Set<string>();
  #lines = 0;
  #others = 0;
  #isCounting = false;

  constructor(private readonly ports: RefusedSignInPorts) {}

  add({ source, address, name = '', reason }: RefusedSignIn): void {
    this.#begin();
    const refusal = `${address} ${source} ${reason.slice(0, MAX_REASON_CHARACTERS)}`;
    const isFirst = !this.#seen.has(refusal);
    if (this.#seen.size < MAX_ADDRESSES) this.#seen.add(refusal);
    if (this.#addresses.size < MAX_ADDRESSES) this.#addresses.add(address);
    if (!isFirst || this.#lines >= MAX_LINES) {
      this.#others += 1;
      return;
    }
    this.#lines += 1;
    this.#note({ actor: name.slice(0, MAX_NAME_CHARACTERS), source, ip: address, reason });
  }

  #begin(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    this.ports.timers.after(HOUR_MS, () => this.#end());
  }

  #end(): void {
    if (this.#others > 0) {
      const reason = `${this.#others} more refused sign-ins within an hour, ${this.#addresses.size} addresses in total`;
      this.#note({ actor: '', source: 'SERVER', ip: '', reason });
    }
    this.#addresses.clear();
    this.#seen.clear();
    this.#lines = 0;
    this.#others = 0;
    this.#isCounting = false;
  }

  /** A line that cannot be stored is in the log of the process. Never rejects. */
  async #note(texts: Pick<AuditNote, 'actor' | 'source' | 'ip' | 'reason'>): Promise<void> {
    const { control, log, firstAccount } = this.ports;
    const account = firstAccount();
    if (account === undefined) return;
    const objects = { entity: '', secondaryEntity: '', thirdEntity: '' };
    const note = { ...texts, ...objects, action: auditActionNumber('refuseSignIn') };
    const look = { type: 'ListQueues', account } as const;
    try {
      await askControl(control, { type: 'Audited', account, note, command: look, always: true }, 'Accounts');
    } catch (error) {
      log.warn('sign-in.not-recorded', { cause: describeError(error) });
    }
  }
}
