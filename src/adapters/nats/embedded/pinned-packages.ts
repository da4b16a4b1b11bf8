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
