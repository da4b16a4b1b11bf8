/**
 * The official release that is fetched when the machine has no nats-server: version and
 * SHA-256 of each platform's archive, as the project's own container build recipes publish them
 * (nats-io/nats-docker, 2.15.x). A platform without a row is not fetched: a hash is never guessed.
 *
 * For another release, change the version and every hash together, from the SHA256SUMS file of
 * that release.
 */
export const PINNED_VERSION = '2.15.0';

export const RELEASES_URL = 'https://github.com/nats-io/nats-server/releases/download';

/** Keyed by Node's `<platform>-<arch>`. */
export const PINNED_RELEASES: Readonly<Record<string, PinnedRelease>> = {
  'linux-x64': {
    name: `nats-server-v${PINNED_VERSION}-linux-amd64`,
    sha256: '5d2c51caca950333aba84911df7d377f826f3a59ec36061c6539105084f65c92',
  },
  'linux-arm64': {
    name: `nats-server-v${PINNED_VERSION}-linux-arm64`,
    sha256: 'cdc208f5a3f42963a52b6ab06ef65626bb870315dc936e26ba571780c6351112',
  },
};

export interface PinnedRelease {
  /** The name of the archive without `.tar.gz`, which the one folder in it has, too. */
  readonly name: string;
  /** The digest of the archive, in lower-case hexadecimal. */
  readonly sha256: string;
}
