/**
 * Secrets that the management API generates and shows later: sealed before they leave this process, opened only for
 * answers.
 */
import type {
  ApiKey,
  DatabaseSecrets,
  NewAccount,
  QueueTokens,
  SealedSecret,
  SearchTokens,
} from '../../domain/control/index.js';
import type { AlertRuleId, ApiKeyId, BackupId, Random } from '../../kernel/index.js';
import type { Sealing } from '../../ports/index.js';
import { hashSecret, newId, newQueueToken, newSecretText, type SecretPrefix } from '../../protocol/index.js';

export class ManagementSecrets {
  constructor(
    private readonly random: Random,
    private readonly sealing: () => Sealing,
  ) {}

  /** @throws BAD_CONFIG if it was sealed with another key file */
  open({ sealed }: SealedSecret): string {
    return this.sealing().open(sealed);
  }

  ofDatabase(): DatabaseSecrets {
    return {
      standardToken: this.#made('mrs_'),
      readOnlyToken: this.#made('mrr_'),
      password: this.#made('mrp_'),
    };
  }

  ofSearchIndex(): SearchTokens {
    return { token: this.#made('mrs_'), readOnlyToken: this.#made('mrr_') };
  }

  ofQueue(): QueueTokens {
    return { queueToken: this.#sealed(newQueueToken(this.random)), readOnlyToken: this.#made('mrq_') };
  }

  /** Secrets of an account without a sign-in: a team, or the queue that replaces a moved one. */
  ofAccount(): Pick<NewAccount, 'secrets' | 'readOnlyToken'> {
    const { queueToken, readOnlyToken } = this.ofQueue();
    const signingKeyCurrent = this.#made('sig_');
    const signingKeyNext = this.#made('sig_');
    return { secrets: { queueToken, mgmtKey: this.#made('mrk_'), signingKeyCurrent, signingKeyNext }, readOnlyToken };
  }

  /** The clear text is shown once and not stored. */
  ofApiKey(): { readonly clear: string } & Pick<ApiKey, 'id' | 'sha256'> {
    const clear = newSecretText(this.random, 'mrk_');
    return { clear, id: newId('key_', this.random) as ApiKeyId, sha256: hashSecret(clear) };
  }

  backupId(): BackupId {
    return newId('bk-', this.random) as BackupId;
  }

  alertRuleId(): AlertRuleId {
    return newId('al-', this.random) as AlertRuleId;
  }

  #made(prefix: SecretPrefix): SealedSecret {
    return this.#sealed(newSecretText(this.random, prefix));
  }

  #sealed(text: string): SealedSecret {
    return { sha256: hashSecret(text), sealed: this.sealing().seal(text) };
  }
}
