// swift-tools-version: 6.2
import PackageDescription

// With TURNOUT_FUZZ set all code is built for libFuzzer, and its targets are there.
let isFuzzing = Context.environment["TURNOUT_FUZZ"] != nil

// One set of rules for every Swift target. Whole-module release builds also inline across modules:
// the hot leaf types (`Bytes`, `HTTPModel`) are called per byte and per field from other modules.
let rules: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
  .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
  .unsafeFlags(isFuzzing ? ["-sanitize=fuzzer,address"] : []),
]

// Parsers and codecs read bytes that strangers wrote: each unsafe expression is marked.
let strictRules = rules + [.strictMemorySafety()]

// Heads and field blocks are read and changed some hundred times for a request, the streams of a session as often. That
// nobody changes what is lent, the one thing that could go wrong there, heads and blocks check themselves; a session lends
// nothing. Debug builds, and so the tests, check each access besides.
let countedByHand: [SwiftSetting] = [
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
]

/// A target that reads what strangers wrote.
func parser(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strictRules)
}

func library(_ name: String, resources: [Resource] = [], _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: rules)
}

func tests(_ name: String, _ more: [Target.Dependency] = [], excluding exclude: [String] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.byName(name: name)] + more, exclude: exclude, swiftSettings: rules)
}

/// What several test or fuzz targets share.
func support(_ name: String, _ dependencies: [Target.Dependency], excluding exclude: [String] = []) -> Target {
  .target(
    name: "\(name)TestSupport", dependencies: dependencies, path: "Tests/Support/\(name)", exclude: exclude,
    swiftSettings: rules)
}

func fuzzer(_ name: String, _ support: Target.Dependency, words: String? = "words.dict") -> Target {
  .executableTarget(
    name: "Fuzz\(name)", dependencies: ["FuzzDriver", support], path: "Tests/Fuzz/\(name)",
    exclude: ["corpus"] + (words.map { [$0] } ?? []), swiftSettings: rules,
    linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])])
}

/// The module of a C library: its headers and shims for what Swift cannot import.
func door(_ name: String, pkgConfig: String, package: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

let fuzzers: [Target] = [
  .target(name: "FuzzDriver", path: "Tests/Fuzz/Driver", swiftSettings: rules),
  fuzzer("HTTP1", "HTTP1TestSupport", words: nil),
  fuzzer("HTTP2", "HTTP2TestSupport", words: nil),
  fuzzer("RPC", "RPCTestSupport", words: nil),
  fuzzer("Tokens", "TokensTestSupport", words: nil),
  fuzzer("JSON", "TranslationTestSupport"),
  fuzzer("Wire", "TranslationTestSupport"),
  fuzzer("ProxyProtocol", "ProxyProtocolTestSupport", words: nil),
  fuzzer("Redis", "RedisTestSupport", words: nil),
  fuzzer("Documents", "MigrationTestSupport"),
  fuzzer("Comparison", "MigrationTestSupport", words: nil),
  fuzzer("Fields", "GatewayTestSupport"),
  fuzzer("Configuration", "GatewayTestSupport"),
  fuzzer("Templates", "TranslationTestSupport"),
  fuzzer("Queries", "TranslationTestSupport"),
]

/// The codec beside libprotobuf's, which is behind a door of its own: Tests/Bench/README.md.
let bench: [Target] = [
  .target(
    name: "CProtoPeer", path: "Tests/Bench/Peer", cxxSettings: [.unsafeFlags(["-std=c++17"])],
    linkerSettings: [.linkedLibrary("protobuf")]),
  .executableTarget(
    name: "turnout-bench",
    dependencies: ["Bytes", "Diagnostics", "ProtobufSchema", "ProtoJSON", "CProtoPeer", "RandomnessTestSupport"],
    path: "Tests/Bench/Codec", swiftSettings: rules),
]

let package = Package(
  name: "turnout",
  products: [.executable(name: "turnout", targets: ["turnout"])],
  targets: [
    // Doors: one per C library.
    .target(name: "CLinux"),
    door("CYAML", pkgConfig: "yaml-0.1", package: "libyaml-dev"),
    door("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
    door("CBrotli", pkgConfig: "libbrotlienc libbrotlidec", package: "libbrotli-dev"),
    door("CZstd", pkgConfig: "libzstd", package: "libzstd-dev"),
    door("CAres", pkgConfig: "libcares", package: "libc-ares-dev"),
    door("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
    door("CNghttp2", pkgConfig: "libnghttp2", package: "libnghttp2-dev"),
    door("CHiredis", pkgConfig: "hiredis", package: "libhiredis-dev"),
    .target(
      name: "CProtoCompiler", cxxSettings: [.unsafeFlags(["-std=c++17"])],
      linkerSettings: [.linkedLibrary("protobuf")]),

    // Sans-I/O: bytes in, values and events out.
    parser("Bytes"),
    .target(name: "HTTPModel", dependencies: ["Bytes"], swiftSettings: strictRules + countedByHand),
    library("Diagnostics"),
    library("Files"),
    parser("ProxyProtocol", ["Bytes"]),
    parser("HTTP1", ["Bytes", "HTTPModel"]),
    .target(
      name: "HTTP2", dependencies: ["Bytes", "HTTPModel", "CNghttp2"], swiftSettings: strictRules + countedByHand),
    parser("ProtobufSchema", ["Bytes", "Diagnostics", "CProtoCompiler"]),
    parser("ProtoJSON", ["Bytes", "ProtobufSchema"]),
    parser("RPC", ["Bytes", "HTTPModel"]),
    library("Tracing", ["Bytes", "RPC"]),
    parser("REST", ["Bytes", "HTTPModel", "Diagnostics", "ProtobufSchema", "ProtoJSON", "RPC"]),
    library("Configuration", ["Diagnostics", "Files", "CYAML"]),
    library("JSONValues", ["Bytes", "RPC"]),
    library("Compression", ["Bytes", "HTTPModel", "CZlib", "CBrotli", "CZstd"]),
    parser("Tokens", ["Bytes", "RPC", "Configuration", "JSONValues", "COpenSSL"]),
    library("Policies", ["Bytes"]),
    library(
      "Migration",
      [
        "Bytes", "HTTPModel", "Diagnostics", "ProtobufSchema", "ProtoJSON", "RPC", "REST", "Configuration",
        "JSONValues",
      ]),
    library("Metrics"),
    library("TransportSecurity", ["Bytes", "Files", "COpenSSL"]),
    parser("Redis", ["Bytes", "CHiredis", "COpenSSL"]),

    // I/O.
    library("EventLoops", ["Bytes", "CLinux", "CAres"]),
    library(
      // The migration dashboard: its files are put into the binary.
      "Gateway", resources: [.embedInCode("Admin/Page")],
      [
        "Bytes", "HTTPModel", "Diagnostics", "Files", "HTTP1", "HTTP2", "ProtobufSchema", "ProtoJSON", "RPC", "REST",
        "Configuration", "JSONValues", "Compression", "Tokens", "Policies", "Migration", "Metrics",
        "EventLoops", "TransportSecurity", "Redis", "ProxyProtocol", "Tracing", "CLinux",
      ]),
    .executableTarget(
      name: "turnout",
      dependencies: [
        "Bytes", "HTTPModel", "Diagnostics", "HTTP1", "ProtobufSchema", "ProtoJSON", "RPC", "TransportSecurity",
        "EventLoops", "Gateway",
      ],
      // The demo's files, those of config/demo.
      resources: [.embedInCode("Demo/Files")],
      swiftSettings: rules,
      // Swift's runtime becomes part of the program: what each request asks of it a hundred times is then a plain call.
      // Nobody looks symbols up in the program, so that what is not used of the runtime is left out; and its many
      // relocations, which the system has to read and apply at each start, take a thirtieth of their room as bits.
      linkerSettings: [
        .unsafeFlags(
          [
            "-static-stdlib", "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker",
            "pack-relative-relocs",
          ], .when(configuration: .release))
      ]),

    // Tests, in the order of what they test; what several share stands before them.
    support("Randomness", []),
    support("Fuzz", []),
    tests("Bytes"),
    tests("HTTPModel", ["Bytes"]),
    tests("Diagnostics"),
    tests("Files"),
    support("ProxyProtocol", ["Bytes", "ProxyProtocol"]),
    tests("ProxyProtocol", ["Bytes", "RandomnessTestSupport", "FuzzTestSupport", "ProxyProtocolTestSupport"]),
    support("HTTP1", ["Bytes", "HTTPModel", "HTTP1"]),
    tests("HTTP1", ["Bytes", "HTTPModel", "HTTP1TestSupport", "RandomnessTestSupport"]),
    support("HTTP2", ["Bytes", "HTTPModel", "HTTP2"]),
    tests("HTTP2", ["Bytes", "HTTPModel", "HTTP2TestSupport", "RandomnessTestSupport"]),
    tests("ProtobufSchema", ["Bytes", "Diagnostics"], excluding: ["Fixtures"]),
    support(
      "Translation",
      ["Bytes", "HTTPModel", "Diagnostics", "ProtobufSchema", "ProtoJSON", "RPC", "REST", "RandomnessTestSupport"],
      excluding: ["Protos"]),
    .executableTarget(
      name: "TranslationTestee",
      dependencies: ["Bytes", "HTTPModel", "Diagnostics", "ProtobufSchema", "ProtoJSON", "RPC", "REST"],
      path: "Tests/Support/TranslationTestee", swiftSettings: rules),
    tests(
      "ProtoJSON",
      [
        "Bytes", "Diagnostics", "ProtobufSchema", "RandomnessTestSupport", "FuzzTestSupport", "TranslationTestSupport",
      ]),
    // What the official conformance runner of protobuf tests (Tests/Conformance/README.md).
    .executableTarget(
      name: "ConformanceTestee", dependencies: ["Bytes", "Diagnostics", "ProtobufSchema", "ProtoJSON"],
      path: "Tests/Conformance/Testee", swiftSettings: rules),
    .testTarget(
      name: "ConformanceTests", dependencies: ["ConformanceTestee", "Bytes", "ProtobufSchema", "ProtoJSON"],
      path: "Tests/Conformance/Tests", swiftSettings: rules),
    tests("Tracing", ["Bytes"]),
    support("RPC", ["Bytes", "HTTPModel", "RPC", "REST"]),
    tests("RPC", ["Bytes", "HTTPModel", "RPCTestSupport"]),
    tests(
      "REST",
      [
        "Bytes", "HTTPModel", "ProtobufSchema", "ProtoJSON", "RPC", "RandomnessTestSupport", "FuzzTestSupport",
        "TranslationTestSupport",
      ]),
    tests("Configuration", ["Diagnostics", "RandomnessTestSupport"], excluding: ["Golden"]),
    tests("JSONValues", ["RPC"]),
    tests("Compression", ["Bytes"]),
    support("Tokens", ["Bytes", "Configuration", "JSONValues", "Tokens"]),
    tests(
      "Tokens", ["Bytes", "Configuration", "JSONValues", "RandomnessTestSupport", "TokensTestSupport"],
      excluding: ["Fixtures"]),
    tests("Policies", ["RandomnessTestSupport"]),
    support(
      "Migration",
      [
        "Bytes", "Diagnostics", "ProtobufSchema", "ProtoJSON", "Configuration", "JSONValues", "Migration",
        "TranslationTestSupport",
      ]),
    tests(
      "Migration",
      [
        "Bytes", "HTTPModel", "Diagnostics", "ProtobufSchema", "ProtoJSON", "RPC", "REST", "Configuration",
        "JSONValues", "RandomnessTestSupport", "TranslationTestSupport", "FuzzTestSupport", "MigrationTestSupport",
      ]),
    tests("Metrics"),
    support("TransportSecurity", ["COpenSSL"]),
    tests("TransportSecurity", ["Bytes", "COpenSSL", "TransportSecurityTestSupport"]),
    support("Redis", ["Bytes", "Redis"]),
    tests("Redis", ["Bytes", "RandomnessTestSupport", "FuzzTestSupport", "RedisTestSupport"]),
    support("EventLoops", []),
    tests("EventLoops", ["Bytes", "CLinux", "EventLoopsTestSupport", "RandomnessTestSupport"]),
    support(
      "Gateway",
      [
        "Bytes", "HTTPModel", "Diagnostics", "ProtobufSchema", "Configuration", "JSONValues", "Migration", "Tracing",
        "EventLoops", "Gateway",
      ]),
    tests(
      "Gateway",
      [
        "Bytes", "HTTPModel", "Diagnostics", "HTTP1", "HTTP2", "RPC", "REST", "Configuration", "Policies",
        "Migration", "TransportSecurity", "COpenSSL", "Redis", "Metrics", "EventLoops", "HTTP2TestSupport",
        "EventLoopsTestSupport", "TransportSecurityTestSupport", "RandomnessTestSupport", "FuzzTestSupport",
        "GatewayTestSupport",
      ]),
    tests(
      "turnout",
      [
        "Bytes", "HTTPModel", "Diagnostics", "ProtobufSchema", "ProtoJSON", "Configuration", "EventLoops", "Gateway",
      ]),
  ] + (isFuzzing ? fuzzers : bench),
  cxxLanguageStandard: .cxx17
)
