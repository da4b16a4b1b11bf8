/** Files of nats-server with a pinned hash: the official release and packages of Debian. No other file is opened. */
import { createHash } from 'node:crypto';

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

/**
 * Debian packages of nats-server with a pinned hash: those of stable releases, whose archive keeps one version for
 * years. Testing and unstable remove a version when the next one arrives, so their packages cannot be pinned: the
 * suite's signature and the hash in its index are the only checks.
 *
 * From the archive's signed indexes (`apt-cache show nats-server`), 2026-11. A point release may bring another version;
 * it is refused here until its row is changed: version and hash together.
 */
export interface PinnedPackage {
  readonly version: string;
  /** The digest of the package's file, in lower-case hexadecimal. */
  readonly sha256: string;
}

/** Keyed by `<suite> <Node's arch>`. */
export const PINNED_PACKAGES: Readonly<Record<string, PinnedPackage>> = {
  'bookworm x64': {
    version: '2.9.10-1+b3',
    sha256: '9f69ebb6f612e652382fde175622160dcd81fd97f2356f5da80bb5c3f48513dd',
  },
  'bookworm arm64': {
    version: '2.9.10-1+b3',
    sha256: '7748c8906ffbaf4f08018c61eeeb5f5e57b4f7bd5307415a802450141b0ee8cd',
  },
  'trixie x64': {
    version: '2.10.27-1+b2',
    sha256: '6d913ac987b78734c08537c2adeb1526cf735f216173a9170d94b185fcfe6f8a',
  },
  'trixie arm64': {
    version: '2.10.27-1+b2',
    sha256: '0c9a617510b28c1b4fb4a38aabea6ab8cd7f026247f2abdff8b955b2278ce049',
  },
};

/** @throws an Error that names both digests */
export function mustHaveDigest(bytes: Uint8Array, sha256: string, name: string): void {
  const actual = createHash('sha256').update(bytes).digest('hex');
  if (actual !== sha256) throw new Error(`${name} has SHA-256 ${actual}, not the pinned ${sha256}`);
}
